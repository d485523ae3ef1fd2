"""wkv6: RWKV-6's attention without softmax: a state of key-value products that decays per token and channel.

Shapes: k, v, r, td (n, tokens, heads, d), tf (heads, d), state (n, heads, d, d); outputs y as v and the last state.
y_t = r_t (S_t + tf k_t ⊗ v_t) and S_(t+1) = td_t S_t + k_t ⊗ v_t; tf, k, r and td go with rows of S, v with columns.
Gradient: with D the gradient of S_(t+1), from the last token to the first, and E = D + tf r_t ⊗ g_t: dr = (S_t + tf
k ⊗ v) g, dk = E v, dv = Eᵀ k, dtd = rows of sum(D S_t), dtf = sum(r k (v · g)); then D = td_t D + r_t ⊗ g_t.
Source: Peng et al., Eagle and Finch: RWKV with Matrix-Valued States and Dynamic Recurrence (2024), equations 15 to 19.
PyTorch: none. ONNX: none. ggml: ggml_rwkv_wkv6 (sequences packed along tokens, the state behind y).
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

SIGNATURE = "(n<4,t<300,h,d<65),(n,t,h,d),(n,t,h,d),(h,d),(n,t,h,d),(n,h,d,d)"
ANALYTIC = True
OUTPUTS = ("y", "state")
TRAITS = ("long sum",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"td": Closed(0.0, 1.0)}


def forward(k: Array, v: Array, r: Array, tf: Array, td: Array, state: Array) -> tuple[Array, Array]:
    y = []
    for kt, vt, rt, wt in steps(k, v, r, td):
        written = outer(kt, vt)
        y.append(from_left(rt, state + tf[..., None] * written))
        state = wt[..., None] * state + written
    return stacked(y), state


def vjp(
    g: tuple[Array, Array],
    y: tuple[Array, Array],
    k: Array,
    v: Array,
    r: Array,
    tf: Array,
    td: Array,
    state: Array,
) -> tuple[Array, ...]:
    gy, dstate = g
    states = [state]
    for kt, vt, wt in steps(k, v, td):
        states.append(wt[..., None] * states[-1] + outer(kt, vt))
    grads, dtf = [], np.zeros_like(tf)
    for (kt, vt, rt, wt, gt), s in zip(steps(k, v, r, td, gy)[::-1], states[-2::-1], strict=True):
        read = outer(rt, gt)
        dwritten = dstate + tf[..., None] * read
        dr = from_right(s + tf[..., None] * outer(kt, vt), gt)
        dtf = dtf + np.sum(rt * kt * np.sum(vt * gt, axis=-1, keepdims=True), axis=0)
        grads.append((from_right(dwritten, vt), from_left(kt, dwritten), dr, np.sum(dstate * s, axis=-1)))
        dstate = wt[..., None] * dstate + read
    dk, dv, dr, dtd = backwards(grads)
    return dk, dv, dr, dtf, dtd, dstate


def torch(torch: Any, k: Any, v: Any, r: Any, tf: Any, td: Any, state: Any) -> Any:
    dtype = k.dtype
    k, v, r, tf, td, state = widened(torch, k, v, r, tf, td, state)
    states = torch_states(torch, td, torch.einsum("nthi,nthj->nthij", k, v), state)
    y = torch.einsum("nthi,nthij->nthj", r, states[:, :-1]) + (r * tf * k).sum(-1, keepdim=True) * v
    return y.to(dtype), states[:, -1].to(dtype)
