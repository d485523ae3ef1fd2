"""repeat_back: the gradient of repeat: the tiles of grad added up.

Shapes: grad any, each axis a multiple of that of `shape`, which has as many; y of `shape`.
Gradient: g laid next to itself as often as grad has tiles.
Source: ggml.h, ggml_repeat_back.
PyTorch: none (torch.Tensor.unflatten and sum). ONNX: none. ggml: ggml_repeat_back.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._torch import widened

ANALYTIC = True
MULTILINEAR = True
EXACT = ("vjp",)
TRAITS = ("long sum",)


def _repeats(grad: Array, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(n // size if size else 1 for n, size in zip(grad.shape, shape, strict=True))


def forward(grad: Array, *, shape: tuple[int, ...]) -> Array:
    pairs = [n for pair in zip(_repeats(grad, shape), shape, strict=True) for n in pair]
    return np.sum(np.reshape(grad, pairs), axis=tuple(range(0, len(pairs), 2)))  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, grad: Array, *, shape: tuple[int, ...]) -> Array:
    return np.tile(g, _repeats(grad, shape))


def torch(torch: Any, grad: Any, *, shape: tuple[int, ...]) -> Any:
    (y,) = widened(torch, grad)
    for axis, size in enumerate(shape):
        y = y.unflatten(axis, (y.shape[axis] // size, size)).sum(axis) if size else y
    return y.to(grad.dtype)
