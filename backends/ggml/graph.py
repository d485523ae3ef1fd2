"""One ggml graph: tensors over the caller's arrays, and calls by name.

ggml counts axes from the innermost, has always four of them and knows no rank; `Tensor.shape` is
NumPy's. A leaf has the strides of its array in nb[], as a view has, and lies in the array's own memory.
"""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from opproof.backends.ggml.devices import Device
from opproof.backends.ggml.library import QUANTISED, TYPES, InitParams
from opproof.backends.ggml.memory import Shape, fold_axes, strides_of, to_four_axes
from opproof.backends.ggml.types import types_of
from opproof.backends.protocol import Unsupported, short_name_of
from opproof.core.arrays import Array

_NAMES = {number: name for name, number in (*TYPES.items(), *QUANTISED.items())}
_NODES = 1024
_CONTEXT = 2**20


@dataclass(frozen=True)
class Tensor:
    """A ggml tensor and the shape in which NumPy sees it."""

    pointer: int
    shape: Shape


class Graph:
    """A graph under construction; a context manager that frees it."""

    def __init__(self, device: Device, *, gradient: bool = False, planned: bool = False) -> None:
        self.device, self.library, self.gradient = device, device.library, gradient
        self.planned = planned  # whether ggml's allocator has results share memory, as programs have it
        self.allocator: ctypes.c_void_p | None = None
        self.arrays: dict[int, Array] = {}  # memory of leaves, by pointer; keeps it alive
        self.context = ctypes.c_void_p(self.pointer("ggml_init", InitParams(_CONTEXT, None, True)))
        self.graph = ctypes.c_void_p(
            self.pointer("ggml_new_graph_custom", self.context, ctypes.c_size_t(_NODES), ctypes.c_bool(gradient))
        )
        self.buffer: ctypes.c_void_p | None = None
        self._buffers: list[ctypes.c_void_p] = []  # of leaves, on a device with memory of its own
        self.callbacks: list[Any] = []  # functions that the graph calls: they live as long as it does
        self.over: Tensor | None = None  # the leaf that the result is to be written over

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for buffer in (*self._buffers, *([] if self.buffer is None else [self.buffer])):
            self.library.function("ggml_backend_buffer_free")(buffer)
        if self.allocator is not None:
            self.library.function("ggml_gallocr_free")(self.allocator)
        self.library.function("ggml_free")(self.context)

    def leaf(self, array: Array) -> Tensor:
        """A tensor in the memory of `array`. More than four axes are folded into the first where that needs no copy.

        No view of ggml repeats an axis by a stride of 0 or runs backwards: such an array is copied first.
        """
        name = "i8" if array.dtype == np.uint8 else short_name_of(array.dtype)  # bytes of blocks, see `blocks`
        if name not in TYPES:
            raise Unsupported(f"ggml's CPU backend does not compute in {name}")
        if any(s <= 0 for n, s in zip(array.shape, array.strides, strict=True) if n > 1):
            array = np.ascontiguousarray(array)
        seen = fold_axes(array)
        return self._placed(array, TYPES[name], to_four_axes(seen.shape), strides_of(seen))

    def array_of(self, tensor: Tensor) -> Array:
        """The memory of a leaf. Raises Unsupported for what the graph itself computes."""
        if tensor.pointer not in self.arrays:
            raise Unsupported("ggml's adapter reads this operand before the graph runs, which computes it")
        return self.arrays[tensor.pointer]

    def blocks(self, tensor: Tensor, name: str) -> Tensor:
        """The leaf's bytes (..., bytes) as rows of blocks of a quantised type."""
        array = np.ascontiguousarray(self.array_of(tensor))
        size, values = self.block(name)
        shape = (*array.shape[:-1], array.shape[-1] // size * values)
        made = self._placed(array, QUANTISED[name], to_four_axes(shape), None)
        return Tensor(made.pointer, shape)

    def block(self, name: str) -> tuple[int, int]:
        """Bytes and values of a block of a quantised type."""
        number = ctypes.c_int(QUANTISED[name])
        size, values = (int(self.library.function(f)(number)) for f in ("ggml_type_size", "ggml_blck_size"))
        return size, values

    def _placed(self, array: Array, number: int, sizes: Shape, strides: Shape | None) -> Tensor:
        """A new tensor in the memory of `array`."""
        four = [ctypes.c_int64(n) for n in sizes]
        tensor = Tensor(self.pointer("ggml_new_tensor_4d", self.context, ctypes.c_int(number), *four), array.shape)
        if strides is not None:
            ctypes.memmove(tensor.pointer + self.library.layout.nb, (ctypes.c_size_t * 4)(*strides), 32)
        self.arrays[tensor.pointer] = array
        buffer = self.device.allocate(tensor.pointer, array)
        self._buffers += [] if buffer is None else [buffer]
        return tensor

    def integers(self, tensor: Tensor) -> Tensor:
        """The leaf's int64 values as a contiguous I32 tensor, the only integers that most of ggml takes."""
        return self.leaf(np.ascontiguousarray(self.array_of(tensor), dtype=np.int32))

    def copied(self, tensor: Tensor) -> Tensor:
        """A leaf over a copy of the leaf's array, for operators that write into their input."""
        return self.leaf(self.array_of(tensor).copy(order="C"))

    def call(self, name: str, *args: Any, shape: Shape | None = None) -> Tensor:
        """The tensor that `name(context, *args)` makes. Raises Unsupported for a type that it does not take.

        Python's bool, int and float become C's bool, int and float; a size_t or int64_t is given as such.
        `shape` is NumPy's shape of it: that of the first tensor where left out and of the same size.
        """
        first = next((a for a in args if isinstance(a, Tensor)), None)
        taken = types_of(name, self.library.version)
        if first is not None and self.type(first) not in taken:
            raise Unsupported(f"{name} on the CPU takes {' and '.join(taken)}, not {self.type(first)}")
        if first is not None and self.is_over(first) and self.library.has(f"{name}_inplace"):
            name = f"{name}_inplace"
        pointer = self.pointer(name, self.context, *map(_to_c, args))
        if shape is None:
            rank = 4 if first is None else len(first.shape)
            sizes = self.sizes(pointer)
            same = first is not None and sizes == self.sizes(first.pointer)
            shape = first.shape if first is not None and same else tuple(reversed(sizes))[4 - min(rank, 4) :]
        return Tensor(pointer, shape)

    def is_over(self, tensor: Tensor) -> bool:
        """Whether the tensor is the leaf that the result is to be written over, or a view of the whole of it."""
        if self.over is None:
            return False
        leaf, view = ((self.pointer("ggml_get_data", ctypes.c_void_p(t.pointer)), self.sizes(t.pointer)) for t in
                      (self.over, tensor))  # fmt: skip
        return leaf[0] == view[0] and math.prod(leaf[1]) == math.prod(view[1])

    def do(self, name: str, *args: Any) -> None:
        """A call that returns nothing and takes no context."""
        self.library.function(name)(*map(_to_c, args))

    def asks(self, name: str, tensor: Tensor) -> bool:
        """A predicate such as ggml_is_contiguous."""
        function = self.library.function(name)
        function.restype = ctypes.c_bool
        return bool(function(ctypes.c_void_p(tensor.pointer)))

    def type(self, tensor: Tensor) -> str:
        """f32, f16, bf16, i32, i64, q4_0, ..."""
        number = ctypes.c_int32.from_address(tensor.pointer + self.library.layout.type).value
        return _NAMES.get(number, f"type {number}")

    def sizes(self, pointer: int) -> Shape:
        """ne[4], innermost first."""
        return tuple((ctypes.c_int64 * 4).from_address(pointer + self.library.layout.ne))

    def strides(self, pointer: int) -> Shape:
        """nb[4] in bytes, innermost first."""
        return tuple((ctypes.c_size_t * 4).from_address(pointer + self.library.layout.nb))

    def pointer(self, name: str, *args: Any) -> int:
        """A call that returns a pointer, 0 where it is null; `args` as C takes them."""
        function = self.library.function(name)
        function.restype = ctypes.c_void_p
        return int(function(*args) or 0)


def _to_c(value: Any) -> Any:
    """A Python value as C takes it."""
    if isinstance(value, Tensor):
        return ctypes.c_void_p(value.pointer)
    if isinstance(value, bool):
        return ctypes.c_bool(value)
    if isinstance(value, int):
        return ctypes.c_int(value)
    if isinstance(value, float):
        return ctypes.c_float(value)
    return ctypes.c_void_p(None) if value is None else value
