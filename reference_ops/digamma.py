"""digamma: ψ(x), the derivative of log Γ(x); NaN at -1, -2 and so on.

Shapes: x any; y as x.
Gradient: g ψ₁(x), ψ₁ the sum over n from 0 of 1 / (x + n)².
Source: Abramowitz, Stegun, Handbook of Mathematical Functions (1964), 6.3 and 6.4.
PyTorch: torch.digamma, torch.special.psi. ONNX: none. ggml: none.
"""

import math
from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import digamma, trigamma

BEYOND = True
TRAITS = ("pointwise",)
NEIGHBOURS = ("lgamma",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"x": (0.0, math.inf)}


def forward(x: Array) -> Array:
    return digamma(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    return g * trigamma(x)


def torch(torch: Any, x: Any) -> Any:
    finite = torch.where(torch.isinf(x), 1.0, x)
    slope = torch.special.zeta(torch.full_like(x, 2.0), finite).detach()  # PyTorch's own is of nine digits in float64
    slope = torch.where(torch.isinf(slope), 0.0, slope)
    return torch.digamma(x.detach()) + torch.where(torch.isinf(x), 0.0, slope * (finite - finite.detach()))
