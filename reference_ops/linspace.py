"""linspace: numbers at equal distances from start to end, both among them.

Shapes: start and end alike, any; y (steps, ...) with y[i] = start + i (end - start) / (steps - 1); one step is start.
Gradient: dstart = the sum of g (1 - i / (steps - 1)), dend = that of g i / (steps - 1).
Source: the definition.
PyTorch: torch.linspace (of numbers). ONNX: none. ggml: none. JAX: jax.numpy.linspace.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(...),(...); steps=s"
ANALYTIC = True
TRIVIAL = {"forward": ("copy", "constant", "zeros"), "vjp": ("copy", "zeros")}  # of one step, and of zeros
TRAITS = ("long sum",)


def _shares(like: Array, steps: int) -> Array:
    """How much of end is in each number, (steps, 1, ...), computed as a kernel does, so that noise knows of it."""
    dtype = np.real(like).dtype
    place = np.reshape(np.arange(steps), (steps, *(1,) * like.ndim)).astype(dtype)
    return place * np.full((), 1 / max(steps - 1, 1), dtype=dtype, like=np.reshape(like, (-1,)))


def forward(start: Array, end: Array, *, steps: int) -> Array:
    if steps < 1 or start.shape != end.shape:
        raise ValueError(f"{steps} numbers from {start.shape} to {end.shape}")
    share = _shares(start, steps)
    return start * (1 - share) + end * share  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, start: Array, end: Array, *, steps: int) -> tuple[Array, Array]:
    share = _shares(start, steps)
    return np.sum(g * (1 - share), axis=0), np.sum(g * share, axis=0)


def torch(torch: Any, start: Any, end: Any, *, steps: int) -> Any:
    dtype = torch.float64 if start.dtype == torch.float64 else torch.float32
    share = torch.linspace(0, 1, steps, dtype=dtype).reshape(steps, *(1,) * start.ndim)
    first, last = start.to(dtype), end.to(dtype)
    return (first * (1 - share) + last * share).to(start.dtype)
