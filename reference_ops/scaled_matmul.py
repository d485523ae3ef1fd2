"""scaled_matmul: x times the transposed matrix that codes and their scales stand for.

Shapes: x (..., m, k), weight (n, bytes) uint8, each row the k codes of `type`: i8, i4, f8e4m3, f8e5m2 or f4e2m1; scale
0d (per tensor), (n, 1) (per row) or (n, k / group) (per group); y (..., m, n) = x (scale · weight)ᵀ.
Scales are floats in x's dtype (`scales` "float"), or bytes, powers of two ("f8e8m0") or fp8 ("f8e4m3"): f4e2m1 in
groups of 32 with f8e8m0 is mxfp4, in groups of 16 with f8e4m3 nvfp4 (without its second scale), f8e4m3 with f8e8m0
mxfp8.
Gradient: dx = g (scale · weight); dscale = the sum of (gᵀ x) · weight over the group, where it is of floats. None for
codes.
Source: OCP Microscaling formats (MX) specification 1.0, section 5.3; ggml-quants.c for nvfp4.
PyTorch: torch._weight_int8pack_mm, torch._weight_int4pack_mm_for_cpu. ONNX: DequantizeLinear (block_size), then
MatMul; com.microsoft's MatMulNBits.
ggml: none (ggml_mul_mat of blocks that hold their scales).
"""

import math
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops import _codes as codes
from opproof.reference_ops._torch import widened

SIGNATURE = "(...,m,k),(n,k),() | (...,m,k),(n,k),(n,1)"
BEYOND = True
ANALYTIC = True
TRAITS = ("long sum",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    kind = params.get("scales", "float")
    return {
        "weight": codes.weights(params["type"]),
        "scale": (0.0, np.inf) if kind == "float" else codes.scales(kind),
    }


def _scale(scale: Array, scales: str) -> Array:
    return scale if scales == "float" else np.asarray(codes.decode(scale, scales))


def _spread(scale: Array, k: int) -> Array:
    """One scale a column, or one for all."""
    return np.repeat(scale, k // scale.shape[-1], axis=-1) if scale.ndim else scale


def _weights(x: Array, weight: Array, scale: Array, type: str, scales: str) -> Array:
    values = codes.decode(weight, type).astype(np.real(x).dtype)
    return values * _spread(_scale(scale, scales), values.shape[-1])


def forward(x: Array, weight: Array, scale: Array, *, type: str, scales: str = "float") -> Array:
    return np.matmul(x, np.swapaxes(_weights(x, weight, scale, type, scales), 0, 1))  # type: ignore[no-any-return]


def vjp(
    g: Array, y: Array, x: Array, weight: Array, scale: Array, *, type: str, scales: str
) -> tuple[Array, None, Array | None]:
    dx = np.matmul(g, _weights(g, weight, scale, type, scales))
    if scales != "float":
        return dx, None, None
    values = codes.decode(weight, type).astype(np.real(x).dtype)
    rows, k = values.shape
    m = math.prod(x.shape[:-1])
    products = np.matmul(np.swapaxes(np.reshape(g, (m, rows)), 0, 1), np.reshape(x, (m, k))) * values
    groups = (1, 1) if scale.ndim == 0 else scale.shape
    parts = np.reshape(products, (groups[0], rows // max(groups[0], 1), groups[1], k // max(groups[1], 1)))
    return dx, None, np.reshape(np.sum(parts, axis=(1, 3)), scale.shape)


def torch(torch: Any, x: Any, weight: Any, scale: Any, *, type: str, scales: str) -> Any:
    (wide,) = widened(torch, x)
    values = codes.torch_values(torch, weight, type).to(wide)
    factors = scale.to(wide) if scales == "float" else codes.torch_values(torch, scale, scales).to(wide)
    if factors.ndim:
        factors = factors.repeat_interleave(values.shape[-1] // factors.shape[-1], dim=-1)
    return torch.nn.functional.linear(wide, values * factors).to(x.dtype)
