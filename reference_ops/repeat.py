"""repeat: x laid repeats[i] times along axis i, like tiles.

Shapes: x any; repeats has one number per axis of y, and axes of size 1 are put before x where it has fewer.
Gradient: g summed over the tiles.
Source: PyTorch's documentation of torch.Tensor.repeat.
PyTorch: torch.Tensor.repeat. ONNX: Tile. ggml: ggml_repeat.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward",)
TRAITS = ("long sum",)
KINDS = ("float8", "signed", "unsigned")


def _tiles(x: Array, repeats: tuple[int, ...]) -> tuple[tuple[int, ...], list[int]]:
    """The shape of x under `repeats`, and (tile, cell) sizes in turn."""
    shape = (*(1,) * (len(repeats) - x.ndim), *x.shape)
    return shape, [n for pair in zip(repeats, shape, strict=True) for n in pair]


def forward(x: Array, *, repeats: tuple[int, ...]) -> Array:
    shape, pairs = _tiles(x, repeats)
    cells = np.reshape(x, [n for size in shape for n in (1, size)])
    return np.reshape(np.broadcast_to(cells, pairs), tuple(r * n for r, n in zip(repeats, shape, strict=True)))


def vjp(g: Array, y: Array, x: Array, *, repeats: tuple[int, ...]) -> Array:
    _, pairs = _tiles(x, repeats)
    return np.reshape(np.sum(np.reshape(g, pairs), axis=tuple(range(0, len(pairs), 2))), x.shape)


def torch(torch: Any, x: Any, *, repeats: tuple[int, ...]) -> Any:
    return x.repeat(repeats)
