"""wkv7: RWKV-7's attention without softmax: a state that decays per channel and is rewritten along one direction.

Shapes: r, w, k, v, a, b (n, tokens, heads, d), state (n, heads, d, d); outputs y as v and the last state.
S_t = S_(t-1) diag(w_t) + (S_(t-1) a_t) ⊗ b_t + v_t ⊗ k_t and y_t = S_t r_t; v goes with rows of S, the others with
columns.
Gradient: with D the gradient of S_t, from the last token to the first, D += g_t ⊗ r_t; dr = S_tᵀ g, dv = D k,
dk = Dᵀ v, dw = columns of sum(D S_(t-1)), db = Dᵀ S_(t-1) a, da = S_(t-1)ᵀ D b; then D = D diag(w_t) + (D b_t) ⊗ a_t.
Source: Peng et al., RWKV-7 "Goose" with Expressive Dynamic State Evolution (2025), equation 17.
PyTorch: none. ONNX: none. ggml: ggml_rwkv_wkv7 (sequences packed along tokens, the state behind y).
"""

import math
from typing import Any

import numpy as np

from opproof.core.arrays import Array, Closed
from opproof.reference_ops._recurrence import backwards, from_left, from_right, outer, stacked, steps, torch_products
from opproof.reference_ops._torch import widened

#: The logarithm of the factor by which a state may grow over all tokens: results stay numbers of float16, or nearly.
_LARGEST_GROWTH = 12.0
SIGNATURE = "(n<4,t<300,h,d<65),(n,t,h,d),(n,t,h,d),(n,t,h,d),(n,t,h,d),(n,t,h,d),(n,h,d,d)"
ANALYTIC = True
OUTPUTS = ("y", "state")
TRAITS = ("long sum",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    # a and b short enough that the state does not grow without bound, even where all of them point in one direction
    tokens, size = (max(n, 1) for n in (shapes["r"][1], shapes["r"][-1]))
    length = min(1.5, math.sqrt(math.expm1(_LARGEST_GROWTH / tokens))) / math.sqrt(size)
    return {"w": Closed(0.0, 1.0), "a": (-length, length), "b": (-length, length)}


def _next(state: Array, w: Array, k: Array, v: Array, a: Array, b: Array) -> Array:
    return state * w[..., None, :] + outer(from_right(state, a), b) + outer(v, k)


def forward(r: Array, w: Array, k: Array, v: Array, a: Array, b: Array, state: Array) -> tuple[Array, Array]:
    y = []
    for rt, wt, kt, vt, at, bt in steps(r, w, k, v, a, b):
        state = _next(state, wt, kt, vt, at, bt)
        y.append(from_right(state, rt))
    return stacked(y), state


def vjp(
    g: tuple[Array, Array],
    y: tuple[Array, Array],
    r: Array,
    w: Array,
    k: Array,
    v: Array,
    a: Array,
    b: Array,
    state: Array,
) -> tuple[Array, ...]:
    gy, dstate = g
    states = [state]
    for wt, kt, vt, at, bt in steps(w, k, v, a, b):
        states.append(_next(states[-1], wt, kt, vt, at, bt))
    grads = []
    for t in reversed(range(r.shape[1])):
        s, gt, at, bt = states[t], gy[:, t], a[:, t], b[:, t]
        dstate = dstate + outer(gt, r[:, t])
        dalong = from_right(dstate, bt)
        dr, dw = from_left(gt, states[t + 1]), np.sum(dstate * s, axis=-2)
        dk, dv = from_left(v[:, t], dstate), from_right(dstate, k[:, t])
        grads.append((dr, dw, dk, dv, from_left(dalong, s), from_left(from_right(s, at), dstate)))
        dstate = dstate * w[:, t, :, None, :] + outer(dalong, at)
    return (*backwards(grads), dstate)


def torch(torch: Any, r: Any, w: Any, k: Any, v: Any, a: Any, b: Any, state: Any) -> Any:
    dtype = r.dtype
    r, w, k, v, a, b, state = widened(torch, r, w, k, v, a, b, state)
    # The whole transition as one matrix, applied from the right.
    transition = torch.diag_embed(w) + torch.einsum("nthi,nthj->nthij", a, b)
    states = torch_products(transition, torch.einsum("nthi,nthj->nthij", v, k), state)
    return torch.einsum("nthij,nthj->nthi", torch.stack(states[1:], dim=1), r).to(dtype), states[-1].to(dtype)
