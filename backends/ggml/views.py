"""What a caller of ggml does around a kernel: views, copies where a kernel refuses strides, casts, broadcasting."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence

from opproof.backends.ggml.graph import Graph, Tensor
from opproof.backends.ggml.library import TYPES
from opproof.backends.ggml.memory import Shape
from opproof.backends.ggml.versions import takes_strides
from opproof.backends.protocol import Unsupported


def ensure_rows(g: Graph, x: Tensor, function: str = "") -> Tensor:
    """x, copied by ggml_cont unless the elements of each row follow one another: most kernels insist.

    Where `function` does not, x goes there as it is, but in place: what comes next would insist.
    Rows of one element, as a transposed view has them, are no exception: ggml goes by the strides alone.
    """
    if g.strides(x.pointer)[0] == item_size_of(g, x) or (takes_strides(g.library.version, function) and g.over is None):
        return x
    return g.call("ggml_cont", x) if g.sizes(x.pointer)[0] == 1 else ensure_contiguous(g, x)


def ensure_contiguous(g: Graph, x: Tensor) -> Tensor:
    """x, copied by ggml_cont unless it is contiguous."""
    return x if g.asks("ggml_is_contiguous", x) else g.call("ggml_cont", x)


def ensure_owned(g: Graph, x: Tensor) -> Tensor:
    """What an operator that writes into its input may write into: a copy of x, or x where the result belongs there."""
    return ensure_rows(g, x) if g.is_over(x) else g.call("ggml_cont", x)


def item_size_of(g: Graph, x: Tensor) -> int:
    """Bytes of an element."""
    return {"i8": 1, "f32": 4, "i32": 4, "i64": 8}.get(g.type(x), 2)


def reshape(g: Graph, x: Tensor, shape: Sequence[int]) -> Tensor:
    """Another shape of x, contiguous first. Of more than four axes, ggml sees the first ones as one."""
    shape = tuple(shape)
    if shape == x.shape:
        return x
    folded = shape if len(shape) <= 4 else (math.prod(shape[:-3]), *shape[-3:])
    return g.call("ggml_reshape_4d", ensure_contiguous(g, x), *_to_int64(folded), shape=shape)


def _to_int64(shape: Sequence[int]) -> list[ctypes.c_int64]:
    """NumPy's shape as four sizes of ggml."""
    return [ctypes.c_int64(n) for n in (*reversed(shape), 1, 1, 1, 1)[:4]]


def shape_of_four(shape: Sequence[int]) -> None:
    """Raise Unsupported where `shape` has more axes than ggml."""
    if len(shape) > 4:
        raise Unsupported(f"a ggml tensor has at most 4 axes, not {len(shape)}")


def permute(g: Graph, x: Tensor, dims: Sequence[int]) -> Tensor:
    """A view of x whose axis j is axis dims[j] of x, as NumPy's transpose."""
    shape_of_four(x.shape)
    n = len(x.shape)
    dims = [d % n for d in dims]
    if dims == list(range(n)):
        return x
    to = list(range(4))
    for j, d in enumerate(dims):
        to[n - 1 - d] = n - 1 - j
    return g.call("ggml_permute", x, *to, shape=tuple(x.shape[d] for d in dims))


def swap_axes(g: Graph, x: Tensor, first: int = -1, second: int = -2) -> Tensor:
    """A view of x with two axes exchanged."""
    dims = list(range(len(x.shape)))
    dims[first], dims[second] = dims[second], dims[first]
    return permute(g, x, dims)


def move_to_last(g: Graph, x: Tensor, dim: int) -> Tensor:
    """A view of x with the axis `dim` exchanged with the last."""
    return swap_axes(g, x, dim, -1) if x.shape else x


def move_back(g: Graph, y: Tensor, dim: int) -> Tensor:
    """The inverse of `move_to_last` after a kernel.

    The gradient of a permuted view is a permuted view, which the backward kernels refuse; the backward pass of a
    reshape is what makes it contiguous.
    """
    if not y.shape or dim % len(y.shape) == len(y.shape) - 1:
        return y
    return move_to_last(g, g.call("ggml_reshape_4d", y, *_to_int64(y.shape), shape=y.shape), dim)


def expand(g: Graph, x: Tensor, shape: Shape) -> Tensor:
    """Broadcast x to `shape` by NumPy's rule, through ggml_repeat."""
    if x.shape == shape:
        return x
    shape_of_four(shape)
    return g.call("ggml_repeat_4d", ensure_rows(g, x), *_to_int64(shape), shape=shape)


def cast(g: Graph, x: Tensor, name: str) -> Tensor:
    """Another type of x."""
    if name not in TYPES:
        raise Unsupported(f"ggml has no type {name}")
    if g.type(x) == "i32" and name not in ("i32", "f32"):
        raise Unsupported("ggml casts i32 to f32 alone")
    return x if g.type(x) == name else g.call("ggml_cast", x, TYPES[name])


def make_view(g: Graph, x: Tensor, shape: Shape, strides: Sequence[int], offset: int) -> Tensor:
    """A view of x in elements of its memory: NumPy's shape and strides. Raises Unsupported for strided rows."""
    shape_of_four(shape)
    if offset + math.prod(shape) > math.prod(x.shape):
        raise Unsupported("a view of ggml is not larger than what it views")
    size = item_size_of(g, x)
    steps = [s * size for s in reversed(strides)]
    if shape and shape[-1] != 1 and steps[0] != size:
        raise Unsupported("ggml's views have the elements of a row next to each other")
    outer = [*steps[1:], *([math.prod(x.shape) * size] * 3)][:3]
    numbers = map(ctypes.c_size_t, (*outer, offset * size))
    return g.call("ggml_view_4d", x, *_to_int64(shape), *numbers, shape=shape)


def take_part(g: Graph, x: Tensor, dim: int, start: int, stop: int, step: int = 1) -> Tensor:
    """x[start:stop:step] along `dim`, a view with x's own strides."""
    x = (
        ensure_contiguous(g, x) if g.gradient else x
    )  # its backward pass scales the whole by 0, which wants it contiguous
    size, n = item_size_of(g, x), len(x.shape)
    dim %= n
    steps = [s // size for s in reversed(g.strides(x.pointer)[:n])]
    offset = start * steps[dim]
    shape = (*x.shape[:dim], len(range(start, stop, step)), *x.shape[dim + 1 :])
    steps[dim] *= step
    return make_view(g, x, shape, steps, offset)
