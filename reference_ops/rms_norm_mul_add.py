"""rms_norm_mul_add: x / sqrt(mean(x²) + eps) over the last axis, times weight, plus residual.

Shapes: x (..., n), weight (n,), residual as x or (n,); y as x.
Gradient: with r = 1 / sqrt(mean(x²) + eps) and h = g weight: dx = r h - r³ x mean(h x), dweight = sum(g x r) over the
leading axes, dresidual = g, summed over them where it is (n,).
Source: Zhang, Sennrich, Root Mean Square Layer Normalization (2019), equation 4, fused with what follows it.
PyTorch: none (torch.nn.functional.rms_norm and torch.add). ONNX: none.
ggml: none (ggml_rms_norm, ggml_mul and ggml_add, which its backends fuse).
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops import rms_norm
from opproof.reference_ops._arrays import unbroadcast
from opproof.reference_ops._torch import widened

SIGNATURE = "(...,n),(n),(...,n)"
ANALYTIC = True
TRAITS = ("rowwise", "statistic", "long sum")
NEIGHBOURS = ("add_rms_norm",)
IN_PLACE = ("x",)


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    whole = shapes["residual"] == shapes["x"]
    return [{"x": k, "y": k, **({"residual": k} if whole else {})} for k in range(-len(shapes["x"]), -1)]


def forward(x: Array, weight: Array, residual: Array, *, eps: float = 1e-6) -> Array:
    return rms_norm.forward(x, weight, eps=eps) + residual


def vjp(
    g: Array, y: Array, x: Array, weight: Array, residual: Array, *, eps: float = 1e-6
) -> tuple[Array, Array, Array]:
    dx, dweight = rms_norm.vjp(g, y, x, weight, eps=eps)
    assert dweight is not None
    return dx, dweight, unbroadcast(g, residual.shape)


def torch(torch: Any, x: Any, weight: Any, residual: Any, *, eps: float = 1e-6) -> Any:
    a, w, r = widened(torch, x, weight, residual)
    return (torch.nn.functional.rms_norm(a, (a.shape[-1],), w, eps) + r).to(x.dtype)
