"""timestep_embedding: cosines, then sines, of each timestep at geometrically falling frequencies.

Shapes: timesteps (n,); y (n, dim) with y[:, j] = cos(t w_j) and y[:, dim // 2 + j] = sin(t w_j),
w_j = max_period^(-j / (dim // 2)); the last column is zero where dim is odd.
Gradient: dt = sum_j w_j (g_sin cos(t w_j) - g_cos sin(t w_j)), from the saved output.
Source: Vaswani et al., Attention Is All You Need (2017), section 3.5; Ho, Jain, Abbeel, Denoising Diffusion
Probabilistic Models (2020), appendix B (cosines first as in ggml.h, ggml_timestep_embedding).
PyTorch: none. ONNX: none. ggml: ggml_timestep_embedding.
"""

import math
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._torch import widened

SIGNATURE = "(n); dim=d"
ANALYTIC = True
TRAITS = ("long sum",)


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return [{"timesteps": -1, "y": -2}]


def _frequencies(like: Array, half: int, max_period: float) -> Array:
    """w_j, as a kernel computes them, so that noise knows of their rounding."""
    dtype = np.real(like).dtype
    rate = np.full((), -math.log(max_period), dtype=dtype, like=like)
    return np.exp(rate * np.arange(half).astype(dtype) / max(half, 1))  # type: ignore[no-any-return]


def forward(timesteps: Array, *, dim: int, max_period: float = 10000.0) -> Array:
    angles = timesteps[:, None] * _frequencies(timesteps, dim // 2, max_period)
    y = np.zeros((timesteps.shape[0], dim), dtype=timesteps.dtype, like=timesteps)
    y[:, : dim // 2] = np.cos(angles)
    y[:, dim // 2 : 2 * (dim // 2)] = np.sin(angles)
    return y


def vjp(g: Array, y: Array, timesteps: Array, *, dim: int, max_period: float = 10000.0) -> Array:
    half = dim // 2
    cos, sin = y[:, :half], y[:, half : 2 * half]
    along = g[:, half : 2 * half] * cos - g[:, :half] * sin
    return np.sum(along * _frequencies(timesteps, half, max_period), axis=1)  # type: ignore[no-any-return]


def torch(torch: Any, timesteps: Any, *, dim: int, max_period: float = 10000.0) -> Any:
    (t,) = widened(torch, timesteps)
    half = dim // 2
    steps = torch.pow(max_period, -torch.arange(half, dtype=t.dtype) / max(half, 1))
    turned = torch.polar(torch.ones(1, dtype=t.dtype), torch.outer(t, steps))
    y = torch.cat([turned.real, turned.imag], dim=1)
    return torch.nn.functional.pad(y, (0, dim - 2 * half)).to(timesteps.dtype)
