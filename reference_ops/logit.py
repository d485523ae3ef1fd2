"""logit: log(x / (1 - x)), the inverse of sigmoid; of x clamped to [eps, 1 - eps] where eps is given.

Shapes: x any; y as x.
-inf at 0, inf at 1, NaN outside of them, unless clamped.
Gradient: g / (x (1 - x)), NaN outside of [0, 1]; where eps is given, 0 outside of [eps, 1 - eps].
Kinks: the two ends of what is clamped.
Source: Berkson, Application of the logistic function to bio-assay (1944).
PyTorch: torch.logit, torch.special.logit. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

BEYOND = True
TRAITS = ("pointwise",)


def domain(shapes: dict[str, tuple[int, ...]], *, eps: float | None = None, **params: Any) -> dict[str, Any]:
    return {"x": (0.0, 1.0)} if eps is None else {}


def forward(x: Array, *, eps: float | None = None) -> Array:
    inner = x if eps is None else np.clip(x, eps, 1 - eps)
    y: Array = np.log(inner / (1 - inner))
    return y


def vjp(g: Array, y: Array, x: Array, *, eps: float | None = None) -> Array:
    low, high, beyond = (0, 1, np.nan) if eps is None else (eps, 1 - eps, 0)
    outside = (x < low) | (x > high)
    inner = np.where(outside, 0.5, x)
    return np.where(outside, beyond, g / (inner * (1 - inner)))


def kinks(x: Array, *, eps: float | None = None) -> Array:
    if eps is None:
        return np.full_like(x, np.inf)
    return np.minimum(np.abs(x - eps), np.abs(x - (1 - eps)))


def torch(torch: Any, x: Any, *, eps: float | None = None) -> Any:
    return torch.logit(x, eps)
