"""Each operator's kernels, with their sizes and strides. Tensors are `Tensor`s; None is an absent one."""

import math
from dataclasses import dataclass, replace

import pyopencl as cl
from opencl_device import QUEUE, launch

from opproof.backends import Unsupported

GROUP, TILE = 64, 16  # as in kernels.cl


@dataclass(frozen=True)
class Tensor:
    """Elements in a buffer: shape, and strides in elements."""

    data: cl.Buffer | None
    shape: tuple[int, ...]
    strides: tuple[int, ...]


NONE = Tensor(None, (0,), (0,))


def as4d(t: Tensor, last: int = -1) -> Tensor:
    """`t` as four axes, axis `last` last. Raises Unsupported when it has more."""
    if len(t.shape) > 4:
        raise Unsupported(f"tensors of {len(t.shape)} axes; these kernels take at most 4")
    axes = list(range(len(t.shape)))
    if axes:
        axes.append(axes.pop(last))
    pad = 4 - len(axes)
    shape, strides = ([s[a] for a in axes] for s in (t.shape, t.strides))
    return Tensor(t.data, (*[1] * pad, *shape), (*[0] * pad, *strides))


def scratch(shape: tuple[int, ...], itemsize: int) -> Tensor:
    """Contiguous device memory for what one kernel keeps for the next."""
    data = cl.Buffer(QUEUE.context, cl.mem_flags.READ_WRITE, max(math.prod(shape) * itemsize, 1))
    return Tensor(data, shape, tuple(math.prod(shape[i + 1 :]) for i in range(len(shape))))


def rows_of(t: Tensor) -> int:
    return math.prod(t.shape[:-1]) if t.shape[-1] else 0


# gelu


def gelu_forward(kernels, x, y, *, approximate):
    x, count = as4d(x), math.prod(x.shape)
    launch(kernels.gelu_forward, [count], [GROUP], x.data, y.data, count, x.shape, x.strides, approximate == "tanh")


def gelu_backward(kernels, g, x, dx, *, approximate):
    g, x, count = as4d(g), as4d(x), math.prod(x.shape)
    sizes = (count, x.shape, g.strides, x.strides)
    launch(kernels.gelu_backward, [count], [GROUP], g.data, x.data, dx.data, *sizes, approximate == "tanh")


# softmax


def softmax_forward(kernels, x, y, *, dim):
    x, y = as4d(x, dim), as4d(y, dim)
    sizes = (x.shape, x.strides, y.strides)
    launch(kernels.softmax_forward, [rows_of(x) * GROUP], [GROUP], x.data, y.data, *sizes)


def softmax_backward(kernels, g, x, dx, *, dim):
    y = replace(dx, data=scratch(dx.shape, 4).data)
    softmax_forward(kernels, x, y, dim=dim)
    g, y, dx = (as4d(t, dim) for t in (g, y, dx))
    sizes = (dx.shape, g.strides, y.strides, dx.strides)
    launch(kernels.softmax_backward, [rows_of(dx) * GROUP], [GROUP], g.data, y.data, dx.data, *sizes)


# rms_norm


def rms_norm_forward(kernels, x, w, y, *, eps):
    """Returns r, one float per row."""
    x, y, weight = as4d(x), as4d(y), NONE if w is None else w
    r = scratch((math.prod(x.shape[:-1]),), 4)
    sizes = (x.shape, float(eps), x.strides, weight.strides[0], y.strides, w is not None)
    items = [rows_of(x) * GROUP]
    launch(kernels.rms_norm_forward, items, [GROUP], x.data, weight.data, y.data, r.data, *sizes)
    return r


def rms_norm_backward(kernels, g, x, w, dx, dw, *, eps):
    y = scratch(x.shape, 4)
    r = rms_norm_forward(kernels, x, w, y, eps=eps)
    g, x, weight = as4d(g), as4d(x), NONE if w is None else w
    if dx is not None:
        dx, items = as4d(dx), [rows_of(x) * GROUP]
        sizes = (x.shape, g.strides, x.strides, weight.strides[0], dx.strides, w is not None)
        launch(kernels.rms_norm_backward_x, items, [GROUP], g.data, x.data, weight.data, r.data, dx.data, *sizes)
    if dw is not None:
        sizes = (math.prod(x.shape[:-1]), x.shape, g.strides, x.strides)
        launch(kernels.rms_norm_backward_w, [x.shape[-1]], [GROUP], g.data, x.data, r.data, dw.data, *sizes)


# matmul


def transposed(t: Tensor) -> Tensor:
    return Tensor(t.data, (*t.shape[:2], t.shape[3], t.shape[2]), (*t.strides[:2], t.strides[3], t.strides[2]))


def with_axis(t: Tensor, at: int) -> Tensor:
    """An axis of length 1 put in at `at`, counted from the end of the new shape."""
    i = len(t.shape) + 1 + at
    return Tensor(t.data, (*t.shape[:i], 1, *t.shape[i:]), (*t.strides[:i], 0, *t.strides[i:]))


def product(kernels, a, b, c):
    """Write a b to c, all of four axes; batch axes in which c is 1 and a or b is more are summed."""
    full = [max(s, t) if s and t else 0 for s, t in zip(a.shape[:2], b.shape[:2], strict=True)]
    summed = tuple(f if s == 1 else 1 for f, s in zip(full, c.shape[:2], strict=True))
    a_strides, b_strides = (
        (*(s if n > 1 else 0 for n, s in zip(t.shape[:2], t.strides[:2], strict=True)), *t.strides[2:]) for t in (a, b)
    )
    size = (c.shape[2], c.shape[3], a.shape[3], c.shape[1])
    items, group = [c.shape[3], c.shape[2], c.shape[0] * c.shape[1]], [TILE, TILE, 1]
    launch(kernels.matmul, items, group, a.data, b.data, c.data, size, summed, a_strides, b_strides, c.strides)


def matrices(a, b, c):
    """The three as batches of matrices: a vector a is a row, a vector b is a column."""
    vector_a, vector_b = len(a.shape) == 1, len(b.shape) == 1
    if vector_b:
        b, c = with_axis(b, -1), with_axis(c, -1)
    if vector_a:
        a, c = with_axis(a, -2), with_axis(c, -2)
    return as4d(a), as4d(b), as4d(c)


def matmul_forward(kernels, a, b, c):
    product(kernels, *matrices(a, b, c))


def matmul_backward(kernels, g, a, b, da, db):
    a4, b4, g4 = matrices(a, b, g)
    if da is not None:
        product(kernels, g4, transposed(b4), as4d(with_axis(da, -2) if len(a.shape) == 1 else da))
    if db is not None:
        product(kernels, transposed(a4), g4, as4d(with_axis(db, -1) if len(b.shape) == 1 else db))
