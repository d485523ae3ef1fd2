"""dsv4_hc_post: what a layer writes to several residual streams: its result times a weight for each, and their mixture.

Shapes: x (t, n), residual (t, h, n), post (t, h), comb (t, h, h) or none; y (t, h, n) with y[t, j] = x[t] post[t, j]
plus the sum over i of residual[t, i] comb[t, i, j]; without comb plus residual[t, j].
Gradient: dx = postᵀ g, dpost = g x, dresidual = comb g or g, dcomb = residual gᵀ.
Source: Zhu et al., Hyper-Connections (2024), equation 5; Xie et al., mHC: Manifold-Constrained Hyper-Connections
(2025).
PyTorch: none. ONNX: none. ggml: ggml_dsv4_hc_post.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._torch import widened

SIGNATURE = "(t,n),(t,h<9,n),(t,h),(t,h,h)?"
ANALYTIC = True
MULTILINEAR = True
TRIVIAL = {"forward": ("zeros", "constant"), "vjp": ("copy",)}  # of numbers that are 0, or become it; without comb
TRAITS = ("long sum",)


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    comb = {"comb": -3} if "comb" in shapes else {}
    return [{"x": -2, "residual": -3, "post": -2, **comb, "y": -3}]


def forward(x: Array, residual: Array, post: Array, comb: Array | None = None) -> Array:
    kept = residual if comb is None else np.matmul(np.swapaxes(comb, -1, -2), residual)
    return x[:, None] * post[..., None] + kept


def vjp(
    g: Array, y: Array, x: Array, residual: Array, post: Array, comb: Array | None = None
) -> tuple[Array, Array, Array, Array | None]:
    dx, dpost = np.sum(g * post[..., None], axis=1), np.sum(g * x[:, None], axis=-1)
    if comb is None:
        return dx, g, dpost, None
    return dx, np.matmul(comb, g), dpost, np.matmul(residual, np.swapaxes(g, -1, -2))


def torch(torch: Any, x: Any, residual: Any, post: Any, comb: Any = None) -> Any:
    a, r, p, *c = widened(torch, x, residual, post, *(() if comb is None else (comb,)))
    kept = torch.einsum("tin,tij->tjn", r, c[0]) if c else r
    return (torch.einsum("tn,tj->tjn", a, p) + kept).to(x.dtype)
