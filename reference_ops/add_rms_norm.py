"""add_rms_norm: h = x + residual, and h / sqrt(mean(h²) + eps) over the last axis, times weight.

Shapes: x (..., n), residual as x, weight (n,); two outputs as x: the normalised sum, and the sum h.
Gradient: with r = 1 / sqrt(mean(h²) + eps) and k = g weight: dx = dresidual = r k - r³ h mean(k h) + the gradient of
the sum; dweight = sum(g h r) over the leading axes.
Source: Zhang, Sennrich, Root Mean Square Layer Normalization (2019), equation 4; vLLM, fused_add_rms_norm.
PyTorch: none (torch.add and torch.nn.functional.rms_norm). ONNX: none. ggml: none (ggml_add and ggml_rms_norm).
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops import rms_norm
from opproof.reference_ops._torch import widened

SIGNATURE = "(...,n),(...,n),(n)"
ANALYTIC = True
TRAITS = ("rowwise", "statistic", "long sum")
OUTPUTS = ("y", "sum")
NEIGHBOURS = ("rms_norm_mul_add",)
IN_PLACE = ("x", "residual")


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return [{"x": k, "residual": k, "y": k, "sum": k} for k in range(-len(shapes["x"]), -1)]


def forward(x: Array, residual: Array, weight: Array, *, eps: float = 1e-6) -> tuple[Array, Array]:
    h = x + residual
    return rms_norm.forward(h, weight, eps=eps), h


def vjp(
    g: tuple[Array, Array], y: tuple[Array, Array], x: Array, residual: Array, weight: Array, *, eps: float = 1e-6
) -> tuple[Array, Array, Array]:
    dh, dweight = rms_norm.vjp(g[0], y[0], y[1], weight, eps=eps)  # h as it was stored
    dx = dh + g[1]
    assert dweight is not None
    return dx, dx, dweight


def torch(torch: Any, x: Any, residual: Any, weight: Any, *, eps: float = 1e-6) -> Any:
    a, b, w = widened(torch, x, residual, weight)
    h = a + b
    return torch.nn.functional.rms_norm(h, (h.shape[-1],), w, eps).to(x.dtype), h.to(x.dtype)
