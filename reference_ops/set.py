"""set: a with the block that begins at `offset` replaced by b.

Shapes: a any, b of the same rank and not larger, offset one number per axis; y as a.
Gradient: da = g with zeros in the block, db = the block of g.
Source: ggml.h, ggml_set, with an index in place of a byte offset.
PyTorch: torch.slice_scatter (one axis). ONNX: none. ggml: ggml_set, ggml_set_1d, ggml_set_2d.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward", "vjp")
KINDS = ("float8", "signed", "unsigned")
IN_PLACE = ("a",)


def _block(b: Any, offset: tuple[int, ...]) -> Any:
    return tuple(slice(o, o + n) for o, n in zip(offset, b.shape, strict=True))


def forward(a: Array, b: Array, *, offset: tuple[int, ...]) -> Array:
    y = np.zeros(a.shape, dtype=np.result_type(a, b), like=a)
    y[...] = a
    y[_block(b, offset)] = b
    return y


def vjp(g: Array, y: Array, a: Array, b: Array, *, offset: tuple[int, ...]) -> tuple[Array, Array]:
    da = np.copy(g)
    da[_block(b, offset)] = 0
    return da, g[_block(b, offset)]


def torch(torch: Any, a: Any, b: Any, *, offset: tuple[int, ...]) -> Any:
    y = a.clone()
    y[_block(b, offset)] = b
    return y
