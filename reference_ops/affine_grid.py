"""affine_grid: the places that an affine map takes the cells of an image, or of a volume, to.

Shapes: theta (n, 2, 3) or (n, 3, 4); y (n, *size, 2) or (n, *size, 3), where `size` is height and width, or depth,
height and width. Each cell's place stands from the last axis to the first with a 1 behind it, and theta is multiplied
by it. Along an axis of m cells places go from -1 to 1: the outer cells' middles where align_corners, else their edges.
Gradient: dtheta = the sum over the cells of g times the cell's place.
Source: Jaderberg et al., Spatial Transformer Networks (2015), section 3.2.
PyTorch: torch.nn.functional.affine_grid. ONNX: AffineGrid. ggml: none.
"""

import math
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._torch import widened

SIGNATURE = "(n,2,3) | (n,3,4)"
ANALYTIC = True
TRAITS = ("long sum",)


def _places(like: Array, size: tuple[int, ...], align_corners: bool) -> Array:
    """The places of all cells, (cells, axes + 1), computed as a kernel does."""
    dtype = np.real(like).dtype
    one = np.ones((), dtype=dtype, like=like)
    axes = []
    for m in size:
        cells = np.arange(m).astype(dtype)
        steps = one * (2 * cells) / max(m - 1, 1) - 1 if align_corners else one * (2 * cells + 1) / m - 1
        axes.append(steps * 0 if m == 1 else steps)
    grids = []
    for a in reversed(range(len(size))):
        shape = [-1 if a == b else 1 for b in range(len(size))]
        grids.append(np.reshape(np.reshape(axes[a], shape) * np.ones(size), (-1,)))
    return np.stack([*grids, np.ones_like(grids[0])], axis=-1)


def forward(theta: Array, *, size: tuple[int, ...], align_corners: bool = False) -> Array:
    if theta.shape[1:] != (len(size), len(size) + 1):
        raise ValueError(f"theta is of {theta.shape}, which is no map of {len(size)} axes")
    places = _places(theta, size, align_corners)
    y = np.matmul(places, np.swapaxes(theta, 1, 2))
    return np.reshape(y, (theta.shape[0], *size, len(size)))


def vjp(g: Array, y: Array, theta: Array, *, size: tuple[int, ...], align_corners: bool = False) -> Array:
    flat = np.reshape(g, (theta.shape[0], math.prod(size), len(size)))
    return np.matmul(np.swapaxes(flat, 1, 2), _places(g, size, align_corners))  # type: ignore[no-any-return]


def torch(torch: Any, theta: Any, *, size: tuple[int, ...], align_corners: bool = False) -> Any:
    (wide,) = widened(torch, theta)
    whole = [theta.shape[0], 1, *size]
    return torch.nn.functional.affine_grid(wide, whole, align_corners=align_corners).to(theta.dtype)
