"""gated_delta_net: attention without softmax, from a state that decays by a gate and is corrected by the delta rule.

Shapes: q, k (n, tokens, groups, d), v (n, tokens, heads, d), gate (n, tokens, heads, d or 1), beta (n, tokens, heads,
1), state (n, heads, d, d), values along rows and keys along columns; outputs y as v and the last state. Head h reads
the q and k of group h mod groups. M = S_(t-1) diag(exp(gate_t)), u = v_t - M k_t, S_t = M + beta_t u ⊗ k_t and
y_t = S_t q_t / √d.
Gradient: with D the gradient of S_t, from the last token to the first, D += g_t ⊗ q_t / √d; dq = S_tᵀ g / √d, dv = du =
beta D k, dbeta = u · D k, dM = D - du ⊗ k, dk = beta Dᵀ u - Mᵀ du, dgate = columns of sum(dM M), summed over
channels where it has one; then D = dM diag(exp(gate_t)). dq and dk are summed over the heads of a group.
Source: Yang, Kautz, Hatamizadeh, Gated Delta Networks: Improving Mamba2 with Delta Rule (2024), equation 10.
PyTorch: none. ONNX: none. ggml: ggml_gated_delta_net (the state behind y).
"""

import math
from typing import Any

import numpy as np

from opproof.core.arrays import Array, Closed
from opproof.reference_ops._arrays import unbroadcast
from opproof.reference_ops._recurrence import backwards, from_left, from_right, outer, stacked, steps, torch_products
from opproof.reference_ops._torch import widened

SIGNATURE = "(n<4,t<300,g,d<129),(n,t,g,d),(n,t,g*r<9,d),(n,t,g*r,1),(n,t,g*r,1),(n,g*r,d,d)"
ANALYTIC = True
OUTPUTS = ("y", "state")
TRAITS = ("long sum",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    # keys of length below 1, as the models normalise them: longer ones make the delta rule diverge
    length = 1.5 / math.sqrt(max(shapes["k"][-1], 1))
    return {"gate": Closed(-3.0, 0.0), "beta": Closed(0.0, 1.0), "k": (-length, length)}


def _shared(x: Array, heads: int) -> Array:
    """A group's vectors for each head that reads them: head h has group h mod groups."""
    return np.tile(x, (1, 1, heads // x.shape[2], 1))


def _gathered(dx: Array, groups: int) -> Array:
    """The transpose of `_shared`."""
    n, tokens, heads, d = dx.shape
    return np.sum(np.reshape(dx, (n, tokens, heads // groups, groups, d)), axis=2)  # type: ignore[no-any-return]


def _step(state: Array, k: Array, v: Array, gate: Array, beta: Array) -> tuple[Array, Array, Array]:
    """The decayed state, the correction and the next state."""
    decayed = state * np.exp(gate)[..., None, :]
    wrong = v - from_right(decayed, k)
    return decayed, wrong, decayed + outer(beta * wrong, k)


def forward(q: Array, k: Array, v: Array, gate: Array, beta: Array, state: Array) -> tuple[Array, Array]:
    scale, y = 1 / math.sqrt(max(v.shape[-1], 1)), []
    for qt, kt, vt, wt, bt in steps(_shared(q, v.shape[2]), _shared(k, v.shape[2]), v, gate, beta):
        _, _, state = _step(state, kt, vt, wt, bt)
        y.append(from_right(state, qt) * scale)
    return stacked(y), state


def vjp(
    g: tuple[Array, Array],
    y: tuple[Array, Array],
    q: Array,
    k: Array,
    v: Array,
    gate: Array,
    beta: Array,
    state: Array,
) -> tuple[Array, ...]:
    gy, dstate = g
    scale, saved = 1 / math.sqrt(max(v.shape[-1], 1)), []
    each = steps(_shared(q, v.shape[2]), _shared(k, v.shape[2]), v, gate, beta, gy)
    for _, kt, vt, wt, bt, _ in each:
        saved.append(_step(state, kt, vt, wt, bt))
        state = saved[-1][2]
    grads = []
    for (qt, kt, _, wt, bt, gt), (decayed, wrong, after) in zip(each[::-1], saved[::-1], strict=True):
        dstate = dstate + outer(gt * scale, qt)
        along = from_right(dstate, kt)
        dv = bt * along
        ddecayed = dstate - outer(dv, kt)
        dk = from_left(bt * wrong, dstate) - from_left(dv, decayed)
        dgate = unbroadcast(np.sum(ddecayed * decayed, axis=-2), wt.shape)
        dq, dbeta = from_left(gt * scale, after), np.sum(wrong * along, axis=-1, keepdims=True)
        grads.append((dq, dk, dv, dgate, dbeta))
        dstate = ddecayed * np.exp(wt)[..., None, :]
    dq, dk, dv, dgate, dbeta = backwards(grads)
    return _gathered(dq, q.shape[2]), _gathered(dk, k.shape[2]), dv, dgate, dbeta, dstate


def torch(torch: Any, q: Any, k: Any, v: Any, gate: Any, beta: Any, state: Any) -> Any:
    dtype, (heads, d) = v.dtype, v.shape[2:]
    q, k, v, gate, beta, state = widened(torch, q, k, v, gate, beta, state)
    q, k = (x[:, :, torch.arange(heads) % x.shape[2]] for x in (q, k))
    # The paper's form: the state times one matrix, diag(exp(gate)) (I - beta k kᵀ), plus the new value.
    kept = torch.eye(d, dtype=v.dtype) - beta[..., None] * k[..., :, None] * k[..., None, :]
    transition = torch.exp(gate).expand(v.shape)[..., None] * kept
    states = torch_products(transition, torch.einsum("nthi,nthj->nthij", beta * v, k), state)
    y = torch.einsum("nthij,nthj->nthi", torch.stack(states[1:], dim=1), q) / d**0.5
    return y.to(dtype), states[-1].to(dtype)
