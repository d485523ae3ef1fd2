"""roll: x shifted along `dims`, what leaves at one end coming back at the other.

Shapes: x any; y as x. shifts and dims: one number each, or as many of one as of the other.
Gradient: g shifted back.
Source: the definition.
PyTorch: torch.roll. ONNX: none. ggml: ggml_roll.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward", "vjp")
KINDS = ("float8", "signed", "unsigned")


def forward(x: Array, *, shifts: int | tuple[int, ...], dims: int | tuple[int, ...]) -> Array:
    if np.size(shifts) != np.size(dims):
        raise ValueError(f"shifts={shifts} are {np.size(shifts)}, and dims={dims} are {np.size(dims)}")
    return np.roll(x, shifts, axis=dims)


def vjp(g: Array, y: Array, x: Array, *, shifts: int | tuple[int, ...], dims: int | tuple[int, ...]) -> Array:
    back = -shifts if isinstance(shifts, int) else tuple(-s for s in shifts)
    return np.roll(g, back, axis=dims)


def torch(torch: Any, x: Any, *, shifts: int | tuple[int, ...], dims: int | tuple[int, ...]) -> Any:
    return torch.roll(x, shifts, dims)
