"""dsv4_hc_pre: what a layer reads of several residual streams: their sum, each times its weight.

Shapes: x (t, h, n), streams h of t tokens; pre (t, h), or (t, h, n), of which then the sigmoid is taken; y (t, n),
`scale` times the sum over h of x times its weight.
Gradient: dx = scale g times the weights, dpre = scale g · x, or scale g x times the sigmoid's slope.
Source: Zhu et al., Hyper-Connections (2024), equation 5; Xie et al., mHC: Manifold-Constrained Hyper-Connections
(2025).
PyTorch: none. ONNX: none. ggml: ggml_dsv4_hc_pre, ggml_dsv4_hc_pre_gated.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import sigmoid
from opproof.reference_ops._torch import widened

SIGNATURE = "(t,h<9,n),(t,h) | (t,h<9,n),(t,h,n)"
ANALYTIC = True
TRIVIAL = {"forward": ("zeros", "constant"), "vjp": ("zeros", "constant")}  # of numbers that are 0, or become it
TRAITS = ("long sum",)


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return [{"x": -3, "pre": -len(shapes["pre"]), "y": -2}]


def forward(x: Array, pre: Array, *, scale: float = 1.0) -> Array:
    each = pre[..., None] if pre.ndim == 2 else sigmoid(pre)
    return scale * np.sum(x * each, axis=1)  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, x: Array, pre: Array, *, scale: float = 1.0) -> tuple[Array, Array]:
    along = scale * g[:, None]
    if pre.ndim == 2:
        return along * pre[..., None], np.sum(along * x, axis=-1)
    gate = sigmoid(pre)
    return along * gate, along * x * (gate * (1 - gate))


def torch(torch: Any, x: Any, pre: Any, *, scale: float = 1.0) -> Any:
    a, w = widened(torch, x, pre)
    if w.ndim == 2:
        return (scale * torch.einsum("thn,th->tn", a, w)).to(x.dtype)
    return (scale * (a * torch.sigmoid(w)).sum(1)).to(x.dtype)
