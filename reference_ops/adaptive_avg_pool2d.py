"""adaptive_avg_pool2d: means of windows that divide the plane into output_size parts, as evenly as they can.

Shapes: x (n, c, h, w); y (n, c, *output_size). Part i of o of an axis of n cells runs from floor(i n / o) to
ceil((i + 1) n / o), so parts overlap where o does not divide n.
Gradient: g over the part's number of cells, to each of them.
Source: PyTorch's documentation of torch.nn.AdaptiveAvgPool2d.
PyTorch: torch.nn.functional.adaptive_avg_pool2d. ONNX: GlobalAveragePool (output_size = 1). ggml: none.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._windows import Sizes, per_axis

SIGNATURE = "(n,c,h,w)"
ANALYTIC = True
TRAITS = ("long sum", "resize", "pools")


def _alike(n: int, out: int) -> Iterator[tuple[Array, Array]]:
    """Parts of the same number of cells: which they are, (p,), and their cells, (p, cells)."""
    which = np.arange(out)
    first, end = which * n // out, -((which + 1) * n // -out)
    for cells in np.unique(end - first):
        parts = which[end - first == cells]
        yield parts, first[parts, None] + np.arange(cells)


def _blocks(x: Array, output_size: Sizes) -> Iterator[tuple[Any, Any]]:
    """Where parts lie in y, (n, c, p, q), and where their cells lie in x, (n, c, p, q, *cells)."""
    high, wide = (list(_alike(n, o)) for n, o in zip(x.shape[2:], per_axis(output_size, 2), strict=True))
    every = slice(None)
    for i, h in high:
        for j, w in wide:
            yield (every, every, i[:, None], j), (every, every, h[:, None, :, None], w[:, None, :])


def forward(x: Array, *, output_size: Sizes) -> Array:
    if 0 in x.shape[2:]:
        raise ValueError(f"pooling asks for elements on the last axes, x is of {x.shape}")
    y = np.zeros((*x.shape[:2], *per_axis(output_size, 2)), dtype=x.dtype, like=x)
    for parts, cells in _blocks(x, output_size):
        y[parts] = np.mean(x[cells], axis=(-2, -1))
    return y


def vjp(g: Array, y: Array, x: Array, *, output_size: Sizes) -> Array:
    dx = np.zeros(x.shape, dtype=g.dtype, like=g)
    for parts, cells in _blocks(x, output_size):
        count = cells[2].shape[2] * cells[3].shape[2]
        share = (g[parts] / count)[..., None, None]
        np.add.at(dx, cells, share)
    return dx


def torch(torch: Any, x: Any, *, output_size: Sizes) -> Any:
    return torch.nn.functional.adaptive_avg_pool2d(x, output_size)
