"""xielu: p x² + beta x where x > 0, n (exp(min(x, eps)) - 1 - x) + beta x elsewhere.

Shapes: x any; y as x. p = log(1 + exp(alpha_p)) and n = beta + log(1 + exp(alpha_n)).
Gradient: g (2 p x + beta) where x > 0, else g (n (eˣ - 1) + beta), without eˣ where x > eps.
Kinks: x = 0 and x = eps.
Source: Huang, Schlag, Deriving Activation Functions Using Integration (2024), equation 5; eps as ggml and transformers.
PyTorch: none (torch primitives). ONNX: none. ggml: ggml_xielu.
"""

import math
from typing import Any

import numpy as np

from opproof.core.arrays import Array

TRAITS = ("pointwise",)

_FAR = 2.0**1000


def _slopes(alpha_n: float, alpha_p: float, beta: float) -> tuple[float, float]:
    return math.log1p(math.exp(alpha_p)), beta + math.log1p(math.exp(alpha_n))


def forward(x: Array, *, alpha_n: float = 0.8, alpha_p: float = 0.8, beta: float = 0.5, eps: float = -1e-6) -> Array:
    p, n = _slopes(alpha_n, alpha_p, beta)
    far = (x < -_FAR) & np.isfinite(x)  # n x is infinite there before beta x is taken from it
    below = np.where(far, (beta - n) * x, (np.expm1(np.minimum(x, eps)) - x) * n + beta * x)
    return np.where(x > 0, p * x * x + beta * x, below)


def vjp(
    g: Array, y: Array, x: Array, *, alpha_n: float = 0.8, alpha_p: float = 0.8, beta: float = 0.5, eps: float = -1e-6
) -> Array:
    p, n = _slopes(alpha_n, alpha_p, beta)
    slope = np.where(x <= eps, np.exp(np.minimum(x, eps)) - 1, -1)
    return g * np.where(x > 0, 2 * p * x + beta, slope * n + beta)


def kinks(x: Array, *, alpha_n: float = 0.8, alpha_p: float = 0.8, beta: float = 0.5, eps: float = -1e-6) -> Array:
    return np.minimum(np.abs(x), np.abs(x - eps))


def torch(
    torch: Any, x: Any, *, alpha_n: float = 0.8, alpha_p: float = 0.8, beta: float = 0.5, eps: float = -1e-6
) -> Any:
    # In float32, as a kernel of one pass computes: 16-bit intermediates would be rounded.
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    p, n = _slopes(alpha_n, alpha_p, beta)
    positive = p * torch.square(wide) + beta * wide
    negative = (torch.expm1(torch.clamp(wide, max=eps)) - wide) * n + beta * wide
    return torch.where(wide > 0, positive, negative).to(x.dtype)
