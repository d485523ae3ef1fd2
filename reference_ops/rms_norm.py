"""rms_norm: x / sqrt(mean(x²) + eps) over the last axis, times weight.

Shapes: x (..., n), weight (n,) or none; y as x.
Gradient: with r = 1 / sqrt(mean(x²) + eps) and h = g weight: dx = r h - r³ x mean(h x),
dweight = sum(g x r) over the leading axes.
Source: Zhang, Sennrich, Root Mean Square Layer Normalization (2019), equation 4.
PyTorch: torch.nn.functional.rms_norm. ONNX: RMSNormalization. ggml: ggml_rms_norm (no weight).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(...,n),(n)?"
ANALYTIC = True
TRAITS = ("rowwise", "statistic", "long sum")
IN_PLACE = ("x",)


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return [{"x": k, "y": k} for k in range(-len(shapes["x"]), -1)]


def forward(x: Array, weight: Array | None = None, *, eps: float = 1e-6) -> Array:
    y = x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps)
    return y if weight is None else y * weight  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, x: Array, weight: Array | None = None, *, eps: float = 1e-6) -> tuple[Array, Array | None]:
    scale = 1 / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps)
    unit = x * scale
    h = g if weight is None else g * weight
    dx = scale * (h - unit * np.mean(h * unit, axis=-1, keepdims=True))
    return dx, None if weight is None else np.sum(g * unit, axis=tuple(range(x.ndim - 1)))


def torch(torch: Any, x: Any, weight: Any = None, *, eps: float = 1e-6) -> Any:
    return torch.nn.functional.rms_norm(x, (x.shape[-1],), weight, eps)
