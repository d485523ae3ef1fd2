"""gated_linear_attn: attention without softmax, from a state of key-value products with a gate per token and channel.

Shapes: k, v, q, gate (n, tokens, heads, d), state (n, heads, d, d); outputs y as v and the last state.
S_t = gate_t S_(t-1) + k_t ⊗ v_t and y_t = scale q_t S_t, where k, q and gate go with rows of S, v with columns.
Gradient: with D the gradient of S_t, from the last token to the first, D += scale q_t ⊗ g_t; dq = scale S_t g,
dk = D v, dv = Dᵀ k, dgate = rows of sum(D S_(t-1)); then D = gate_t D.
Source: Yang et al., Gated Linear Attention Transformers with Hardware-Efficient Training (2024), equation 3.
PyTorch: none. ONNX: none. ggml: ggml_gated_linear_attn (sequences packed along tokens, the state behind y).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array, Closed
from opproof.reference_ops._recurrence import (
    backwards,
    from_left,
    from_right,
    outer,
    stacked,
    steps,
    torch_states,
)
from opproof.reference_ops._torch import widened

SIGNATURE = "(n<4,t<300,h,d<129),(n,t,h,d),(n,t,h,d),(n,t,h,d),(n,h,d,d)"
ANALYTIC = True
OUTPUTS = ("y", "state")
TRAITS = ("long sum",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"gate": Closed(0.0, 1.0)}


def forward(k: Array, v: Array, q: Array, gate: Array, state: Array, *, scale: float = 1.0) -> tuple[Array, Array]:
    y = []
    for kt, vt, qt, wt in steps(k, v, q, gate):
        state = wt[..., None] * state + outer(kt, vt)
        y.append(from_left(qt * scale, state))
    return stacked(y), state


def vjp(
    g: tuple[Array, Array],
    y: tuple[Array, Array],
    k: Array,
    v: Array,
    q: Array,
    gate: Array,
    state: Array,
    *,
    scale: float = 1.0,
) -> tuple[Array, ...]:
    gy, dstate = g
    states = [state]
    for kt, vt, wt in steps(k, v, gate):
        states.append(wt[..., None] * states[-1] + outer(kt, vt))
    grads = []
    for t in reversed(range(k.shape[1])):
        gt = scale * gy[:, t]
        dstate = dstate + outer(q[:, t], gt)
        dk, dv = from_right(dstate, v[:, t]), from_left(k[:, t], dstate)
        grads.append((dk, dv, from_right(states[t + 1], gt), np.sum(dstate * states[t], axis=-1)))
        dstate = gate[:, t, :, :, None] * dstate
    return (*backwards(grads), dstate)


def torch(torch: Any, k: Any, v: Any, q: Any, gate: Any, state: Any, *, scale: float = 1.0) -> Any:
    dtype = k.dtype
    k, v, q, gate, state = widened(torch, k, v, q, gate, state)
    states = torch_states(torch, gate, torch.einsum("nthi,nthj->nthij", k, v), state)
    y = scale * torch.einsum("nthi,nthij->nthj", q, states[:, 1:])
    return y.to(dtype), states[:, -1].to(dtype)
