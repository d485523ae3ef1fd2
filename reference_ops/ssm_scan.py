"""ssm_scan: the selective state space of Mamba: a state per channel that decays and is written by steps of dt.

Shapes: state (m, heads, p, d), x (n, tokens, heads, p), dt (n, tokens, heads), A (heads, d or 1), B and C (n, tokens,
groups, d), ids (n,) integers in [0, m); outputs y as x and the last state (n, heads, p, d). Sequence i begins with
state[ids[i]]; head h reads the B and C of group h // (heads / groups). With s = softplus(dt_t):
S_t = exp(s A) S_(t-1) + (s x_t) ⊗ B_t and y_t = S_t C_t. Mamba-1 has p = 1 and one head per channel.
Gradient: with D the gradient of S_t, from the last token to the first, D += g_t ⊗ C_t; dC = S_tᵀ g and dB = Dᵀ (s x),
summed over the heads of a group, dx = s D B, and with F the sum over p of D S_(t-1) exp(s A): dA = sum(s F), ds =
sum(F A) + sum(x D B), ddt = sigmoid(dt) ds; then D = exp(s A) D. dstate is added up where ids repeat. None for ids.
Source: Gu, Dao, Mamba (2023), algorithm 2; Dao, Gu, Transformers are SSMs (2024); ggml.h, ggml_ssm_scan.
PyTorch: none. ONNX: none. ggml: ggml_ssm_scan (the state behind y).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array, Closed
from opproof.reference_ops._arrays import sigmoid, unbroadcast
from opproof.reference_ops._recurrence import backwards, from_left, from_right, outer, stacked, steps
from opproof.reference_ops._torch import widened

SIGNATURE = "(m,g*r,p,d<129),(n,t<300,g*r,p),(n,t,g*r),(g*r,1),(n,t,g,d),(n,t,g,d),(n)"
ANALYTIC = True
OUTPUTS = ("y", "state")
TRAITS = ("long sum",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"A": Closed(-4.0, 0.0), "ids": range(shapes["state"][0])}


def _softplus(x: Array) -> Array:
    """log(1 + exp(x)) without overflow, real or complex."""
    negative = np.real(x) < 0
    return np.where(negative, 0, x) + np.log1p(np.exp(np.where(negative, x, -x)))


def _shared(m: Array, heads: int) -> Array:
    return np.repeat(m, heads // m.shape[2], axis=2)


def _gathered(dm: Array, groups: int) -> Array:
    n, tokens, heads, d = dm.shape
    return np.sum(np.reshape(dm, (n, tokens, groups, heads // groups, d)), axis=3)  # type: ignore[no-any-return]


def forward(state: Array, x: Array, dt: Array, A: Array, B: Array, C: Array, ids: Array) -> tuple[Array, Array]:
    s, y, heads = state[ids], [], x.shape[2]
    for xt, step, bt, ct in steps(x, _softplus(dt)[..., None], _shared(B, heads), _shared(C, heads)):
        s = np.exp(step * A)[..., None, :] * s + outer(step * xt, bt)
        y.append(from_right(s, ct))
    return stacked(y) if y else np.zeros_like(x), s


def vjp(
    g: tuple[Array, Array],
    y: tuple[Array, Array],
    state: Array,
    x: Array,
    dt: Array,
    A: Array,
    B: Array,
    C: Array,
    ids: Array,
) -> tuple[Array | None, ...]:
    gy, ds = g
    heads, states = x.shape[2], [state[ids]]
    each = steps(x, _softplus(dt)[..., None], _shared(B, heads), _shared(C, heads), gy)
    for xt, step, bt, _, _ in each:
        states.append(np.exp(step * A)[..., None, :] * states[-1] + outer(step * xt, bt))
    grads, dA = [], np.zeros_like(A)
    for t in reversed(range(len(each))):
        xt, step, bt, ct, gt = each[t]
        decay = np.exp(step * A)
        ds = ds + outer(gt, ct)
        along = from_right(ds, bt)
        fading = np.sum(ds * states[t], axis=-2) * decay
        dA = dA + np.sum(unbroadcast(step * fading, (x.shape[0], *A.shape)), axis=0)
        dstep = np.sum(fading * A, axis=-1) + np.sum(xt * along, axis=-1)
        grads.append((step * along, dstep, from_left(step * xt, ds), from_left(gt, states[t + 1])))
        ds = decay[..., None, :] * ds
    empty = (np.zeros_like(x), np.zeros_like(dt), *(np.zeros((*x.shape[:3], B.shape[-1])),) * 2)
    dx, dstep, dB, dC = backwards(grads) if grads else empty
    dstate = np.zeros_like(state)
    np.add.at(dstate, ids, ds)
    groups = B.shape[2]
    return dstate, dx, dstep * sigmoid(dt), dA, _gathered(dB, groups), _gathered(dC, groups), None


def torch(torch: Any, state: Any, x: Any, dt: Any, A: Any, B: Any, C: Any, ids: Any) -> Any:
    dtype, heads, tokens = x.dtype, x.shape[2], x.shape[1]
    state, x, dt, A, B, C = widened(torch, state, x, dt, A, B, C)
    step = -torch.nn.functional.logsigmoid(-dt)[..., None]
    B, C = (m.repeat_interleave(heads // m.shape[2], dim=2)[..., None, :] for m in (B, C))
    s, y = state[ids], [x[:, :0]]
    for t in range(tokens):
        s = torch.exp(step[:, t] * A)[..., None, :] * s + (step[:, t] * x[:, t])[..., None] * B[:, t]
        y.append((s * C[:, t]).sum(-1)[:, None])
    return torch.cat(y, dim=1).to(dtype), s.to(dtype)
