"""cdist: the p-norm distance of every row of a from every row of b.

Shapes: a (..., n, d), b (..., m, d), y (..., n, m) with y[i, j] = (sum |a[i] - b[j]|^p)^(1/p); leading axes broadcast.
p = 0 counts unequal elements, p = inf takes the largest difference.
Gradient: of norm at the difference: g sign(d) (|d| / y)^(p - 1), 0 where y is 0; g at the largest |d|
for inf; 0 for p = 0.
Kinks: equal elements for p <= 1, equal rows for p > 1, ties and equal elements for inf.
Source: PyTorch's documentation of torch.cdist.
PyTorch: torch.cdist. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops import norm
from opproof.reference_ops._arrays import nearest, unbroadcast

SIGNATURE = "(...,n,d),(...,m,d)"
TRIVIAL = {"vjp": ("zeros", "constant")}  # of p = 0, which is piecewise constant
TRAITS = ("long sum",)


def _differences(a: Array, b: Array) -> Array:
    return a[..., :, None, :] - b[..., None, :, :]


def forward(a: Array, b: Array, *, p: float = 2.0) -> Array:
    return norm.forward(_differences(a, b), p=p, dim=-1)


def vjp(g: Array, y: Array, a: Array, b: Array, *, p: float = 2.0) -> tuple[Array, Array]:
    d = norm.vjp(g, y, _differences(a, b), p=p, dim=-1)
    return unbroadcast(np.sum(d, axis=-2), a.shape), unbroadcast(-np.sum(d, axis=-3), b.shape)


def kinks(a: Array, b: Array, *, p: float = 2.0) -> Array:
    distance = norm.kinks(_differences(a, b), p=p, dim=-1)
    return nearest(np.min(distance, axis=-2, initial=np.inf), a.shape)


def torch(torch: Any, a: Any, b: Any, *, p: float = 2.0) -> Any:
    return torch.cdist(a, b, p, compute_mode="donot_use_mm_for_euclid_dist")
