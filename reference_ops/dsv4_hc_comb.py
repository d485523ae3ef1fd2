"""dsv4_hc_comb: how residual streams are mixed: of each token's logits a matrix whose rows and columns add up to one.

Shapes: mixes (t, (2 + h) h) and base ((2 + h) h,) of h streams, scale (3,); y (t, h, h), from a row's stream to a
column's. The logits are mixes scale_2 + base from 2 h on; what stands before, and the other two scales, are for other
steps. Softmax of every row, plus eps; then columns over their sum plus eps; then n_iter - 1 times rows so, and columns
again.
Gradient: through these steps backwards: of c over its sum s plus eps (g - g · c) / (s + eps); of softmax p (g - g · p).
dscale_2 is the sum of that times mixes, dbase its sum over tokens.
Source: Sinkhorn, Knopp, Concerning nonnegative matrices and doubly stochastic matrices (1967); Xie et al., mHC:
Manifold-Constrained Hyper-Connections (2025).
PyTorch: none. ONNX: none. ggml: ggml_dsv4_hc_comb (h = 4).
"""

import math
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._axes import largest
from opproof.reference_ops._torch import widened

SIGNATURE = "(t,24),(3),(24)"
ANALYTIC = True
TRIVIAL = {"forward": ("constant",), "vjp": ("constant", "zeros")}  # of logits that are alike, or all far apart
TRAITS = ("long sum",)
_ROWS, _COLUMNS = 2, 1


def _streams(mixes: Array) -> int:
    """The h of which (2 + h) h numbers stand in a row. Raises ValueError where there is none."""
    h = math.isqrt(mixes.shape[-1] + 1) - 1
    if h < 1 or (2 + h) * h != mixes.shape[-1]:
        raise ValueError(f"{mixes.shape[-1]} numbers are not (2 + h) h of any h")
    return h


def _logits(mixes: Array, scale: Array, base: Array) -> Array:
    h = _streams(mixes)
    return np.reshape(mixes[:, 2 * h :] * scale[2] + base[2 * h :], (mixes.shape[0], h, h))


def _softmax(logits: Array) -> Array:
    e = np.exp(logits - largest(logits, _ROWS))
    return e / np.sum(e, axis=_ROWS, keepdims=True)  # type: ignore[no-any-return]


def _balanced(shares: Array, eps: float, n_iter: int) -> list[tuple[Array, Array, int]]:
    """After every step the matrix, what it was divided by, and along which axis."""
    found, c = [], shares + eps
    for axis in (_COLUMNS, *(n_iter - 1) * (_ROWS, _COLUMNS)):
        total = np.sum(c, axis=axis, keepdims=True) + eps
        c = c / total
        found.append((c, total, axis))
    return found


def forward(mixes: Array, scale: Array, base: Array, *, eps: float = 1e-6, n_iter: int = 20) -> Array:
    return _balanced(_softmax(_logits(mixes, scale, base)), eps, n_iter)[-1][0]


def vjp(
    g: Array, y: Array, mixes: Array, scale: Array, base: Array, *, eps: float = 1e-6, n_iter: int = 20
) -> tuple[Array, Array, Array]:
    h, p = _streams(mixes), _softmax(_logits(mixes, scale, base))
    for c, total, axis in reversed(_balanced(p, eps, n_iter)):
        g = (g - np.sum(g * c, axis=axis, keepdims=True)) / total
    d = np.reshape(p * (g - np.sum(g * p, axis=_ROWS, keepdims=True)), (mixes.shape[0], h * h))
    dmixes, dscale, dbase = (np.zeros(v.shape, dtype=g.dtype, like=g) for v in (mixes, scale, base))
    dmixes[:, 2 * h :] = d * scale[2]
    dscale[2] = np.sum(d * mixes[:, 2 * h :])
    dbase[2 * h :] = np.sum(d, axis=0)
    return dmixes, dscale, dbase


def torch(torch: Any, mixes: Any, scale: Any, base: Any, *, eps: float = 1e-6, n_iter: int = 20) -> Any:
    h = _streams(mixes)
    a, s, b = widened(torch, mixes, scale, base)
    c = torch.softmax((a[:, 2 * h :] * s[2] + b[2 * h :]).reshape(-1, h, h), -1) + eps
    c = c / (c.sum(1, keepdim=True) + eps)
    for _ in range(n_iter - 1):
        c = c / (c.sum(2, keepdim=True) + eps)
        c = c / (c.sum(1, keepdim=True) + eps)
    return c.to(mixes.dtype)
