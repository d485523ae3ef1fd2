"""adaptive_avg_pool2d: means of windows that divide the plane into output_size parts, as evenly as they can.

Shapes: x (n, c, h, w); y (n, c, *output_size). Part i of o of an axis of n cells runs from floor(i n / o) to
ceil((i + 1) n / o), so parts overlap where o does not divide n.
Gradient: g over the part's number of cells, to each of them.
Source: PyTorch's documentation of torch.nn.AdaptiveAvgPool2d.
PyTorch: torch.nn.functional.adaptive_avg_pool2d. ONNX: GlobalAveragePool (output_size = 1). ggml: none.
"""

import itertools
from typing import Any

import numpy as np

from opproof.reference_ops._windows import Sizes, per_axis
from opproof.vocabulary.arrays import Array

ANALYTIC = True
TRAITS = ("long sum", "resize", "pools")


def _parts(n: int, out: int) -> list[slice]:
    return [slice(i * n // out, -((i + 1) * n // -out)) for i in range(out)]


def forward(x: Array, *, output_size: Sizes) -> Array:
    high, wide = (_parts(n, o) for n, o in zip(x.shape[2:], per_axis(output_size, 2), strict=True))
    return np.stack([np.stack([np.mean(x[:, :, h, w], axis=(2, 3)) for w in wide], -1) for h in high], -2)


def vjp(g: Array, y: Array, x: Array, *, output_size: Sizes) -> Array:
    high, wide = (_parts(n, o) for n, o in zip(x.shape[2:], per_axis(output_size, 2), strict=True))
    dx = np.zeros(x.shape, dtype=g.dtype, like=g)
    for (i, h), (j, w) in itertools.product(enumerate(high), enumerate(wide)):
        share = g[:, :, i : i + 1, j : j + 1] / ((h.stop - h.start) * (w.stop - w.start))
        dx[:, :, h, w] = dx[:, :, h, w] + share
    return dx


def torch(torch: Any, x: Any, *, output_size: Sizes) -> Any:
    return torch.nn.functional.adaptive_avg_pool2d(x, output_size)
