"""layer_norm: (x - mean) / sqrt(var + eps) over the last axes, times weight, plus bias.

Shapes: x (..., *normalized_shape), weight and bias of normalized_shape, each optional; y as x. var is biased.
Gradient: with u the normalised x and h = g weight: dx = (h - mean(h) - u mean(h u)) / sqrt(var + eps),
dweight = sum(g u) and dbias = sum(g) over the leading axes.
Source: Ba, Kiros, Hinton, Layer Normalization (2016), equations 3 and 4.
PyTorch: torch.nn.functional.layer_norm. ONNX: LayerNormalization.
ggml: ggml_norm (last axis, no weight, no bias).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._norm import standardise, standardise_vjp

SIGNATURE = "(...,n),(n)?,(n)?; normalized_shape=(n,) | (...,m,n),(m,n)?,(m,n)?; normalized_shape=(m,n)"
ANALYTIC = True
TRAITS = ("rowwise", "statistic", "long sum")
IN_PLACE = ("x",)


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    axes = range(-len(shapes["x"]), -len(params["normalized_shape"]))
    return [{"x": k, "y": k} for k in axes]


def forward(
    x: Array,
    weight: Array | None = None,
    bias: Array | None = None,
    *,
    normalized_shape: tuple[int, ...],
    eps: float = 1e-5,
) -> Array:
    if x.shape[-len(normalized_shape) :] != tuple(normalized_shape):
        raise ValueError(f"the last axes of {x.shape} are not {normalized_shape}")
    y, _ = standardise(x, tuple(range(-len(normalized_shape), 0)), eps)
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def vjp(
    g: Array,
    y: Array,
    x: Array,
    weight: Array | None = None,
    bias: Array | None = None,
    *,
    normalized_shape: tuple[int, ...],
    eps: float = 1e-5,
) -> tuple[Array, Array | None, Array | None]:
    last = tuple(range(-len(normalized_shape), 0))
    lead = tuple(range(x.ndim - len(normalized_shape)))
    unit, scale = standardise(x, last, eps)
    dx = standardise_vjp(g if weight is None else g * weight, unit, scale, last)
    dweight = None if weight is None else np.sum(g * unit, axis=lead)
    return dx, dweight, None if bias is None else np.sum(g, axis=lead)


def torch(
    torch: Any,
    x: Any,
    weight: Any = None,
    bias: Any = None,
    *,
    normalized_shape: tuple[int, ...],
    eps: float = 1e-5,
) -> Any:
    return torch.nn.functional.layer_norm(x, normalized_shape, weight, bias, eps)
