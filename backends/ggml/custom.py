"""ggml's functions of the caller's own: a callback that gets the tensors, which of the threads it is, and how many.

The callback computes its share of the outermost rows with NumPy, as ggml's own kernels share rows.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from opproof.backends.ggml.graph import Graph, Tensor
from opproof.backends.protocol import Unsupported
from opproof.core.arrays import Array

_FUNCTIONS: dict[str, Callable[..., Array]] = {
    "tanh": np.tanh,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "logaddexp": np.logaddexp,
    "addcmul": lambda x, a, b: x + a * b,
}
#: GGML_N_TASKS_MAX: as many threads as there are.
_EVERY_THREAD = -1


def _view_array(g: Graph, pointer: int) -> Array:
    """A tensor of float32 as an array with its four axes, the outermost first, in its own memory."""
    sizes, strides = g.sizes(pointer), g.strides(pointer)
    data = g.pointer("ggml_get_data", ctypes.c_void_p(pointer))
    if not math.prod(sizes):
        return np.zeros(tuple(reversed(sizes)), np.float32)
    reach = sum((n - 1) * s for n, s in zip(sizes, strides, strict=True)) + np.dtype(np.float32).itemsize
    memory: Any = (ctypes.c_char * reach).from_address(data)
    return np.ndarray(tuple(reversed(sizes)), np.float32, memory, strides=tuple(reversed(strides)))


def _make_callback(g: Graph, count: int, function: str) -> Any:
    """A C function of the result, `count` tensors, the number of the thread, that of all threads, and a pointer."""
    called = _FUNCTIONS[function]

    def compute(*given: Any) -> None:
        y, *tensors = (_view_array(g, pointer) for pointer in given[: count + 1])
        first, every = given[count + 1], given[count + 2]
        rows = np.arange(first, math.prod(y.shape[:-1]), every)
        for at in zip(*np.unravel_index(rows, y.shape[:-1]), strict=True):
            y[at] = called(*(x[at] for x in tensors))

    pointers = [ctypes.c_void_p] * (count + 1)
    return ctypes.CFUNCTYPE(None, *pointers, ctypes.c_int, ctypes.c_int, ctypes.c_void_p)(compute)


def _map(g: Graph, a: Tensor, b: Tensor | None = None, c: Tensor | None = None, *, function: str) -> Tensor:
    given = [x for x in (a, b, c) if x is not None]
    if g.gradient:
        raise Unsupported("ggml has no gradient of a function of the caller's own")
    callback = _make_callback(g, len(given), function)
    g.callbacks.append(callback)
    return g.call(f"ggml_map_custom{len(given)}", *given, callback, _EVERY_THREAD, None)


TABLE: dict[str, Any] = {"map": _map}
