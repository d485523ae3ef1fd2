"""One ggml graph: tensors over the caller's arrays, calls by name, values and gradients.

ggml counts axes from the innermost, has always four of them and knows no rank; `Tensor.shape` is
NumPy's. A leaf has the strides of its array in nb[], as a view has, and lies in the array's own memory.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.backends._ggml_library import QUANTISED, TYPES, InitParams, Library
from opproof.backends._ggml_types import types_of
from opproof.backends._protocol import BackendFailed, Unsupported, float_name

Array = NDArray[Any]
Shape = tuple[int, ...]
_NAMES = {number: name for name, number in (*TYPES.items(), *QUANTISED.items())}
_NODES = 1024
_CONTEXT = 2**20
_LIMIT = 2**62
_ZONE = 2**14  # bytes of poison behind the last tensor


@dataclass(frozen=True)
class Tensor:
    """A ggml tensor and the shape in which NumPy sees it."""

    pointer: int
    shape: Shape


@dataclass(frozen=True)
class Device:
    """ggml's CPU backend of one thread, and a buffer that spans the address space, so that any array is in it."""

    library: Library
    backend: ctypes.c_void_p
    everywhere: ctypes.c_void_p


def open_device(library: Library) -> Device:
    """One for the process; never closed."""
    init = library.function("ggml_backend_cpu_init")
    init.restype = ctypes.c_void_p
    backend = ctypes.c_void_p(init())
    library.function("ggml_backend_cpu_set_n_threads")(backend, ctypes.c_int(1))
    wrap = library.function("ggml_backend_cpu_buffer_from_ptr")
    wrap.restype = ctypes.c_void_p
    return Device(library, backend, ctypes.c_void_p(wrap(ctypes.c_void_p(4096), ctypes.c_size_t(_LIMIT))))


class Graph:
    """A graph under construction; a context manager that frees it."""

    def __init__(self, device: Device, *, gradient: bool = False) -> None:
        self.device, self.library, self.gradient = device, device.library, gradient
        self.arrays: dict[int, Array] = {}  # memory of leaves, by pointer; keeps it alive
        self.context = ctypes.c_void_p(self._pointer("ggml_init", InitParams(_CONTEXT, None, True)))  # noqa: FBT003
        self.graph = ctypes.c_void_p(
            self._pointer("ggml_new_graph_custom", self.context, ctypes.c_size_t(_NODES), ctypes.c_bool(gradient))
        )
        self._buffer: ctypes.c_void_p | None = None

    def __enter__(self) -> Graph:
        return self

    def __exit__(self, *_: object) -> None:
        if self._buffer is not None:
            self.library.function("ggml_backend_buffer_free")(self._buffer)
        self.library.function("ggml_free")(self.context)

    def leaf(self, array: Array) -> Tensor:
        """A tensor in the memory of `array`. More than four axes are folded into the first where that needs no copy.

        No view of ggml repeats an axis by a stride of 0 or runs backwards: such an array is copied first.
        """
        name = "i8" if array.dtype == np.uint8 else float_name(array.dtype)  # bytes of blocks, see `blocks`
        if name not in TYPES:
            raise Unsupported(f"ggml's CPU backend does not compute in {name}")
        if any(s <= 0 for n, s in zip(array.shape, array.strides, strict=True) if n > 1):
            array = np.ascontiguousarray(array)
        seen = _folded(array)
        return self._placed(array, TYPES[name], _four(seen.shape), _strides(seen))

    def blocks(self, tensor: Tensor, name: str) -> Tensor:
        """The leaf's bytes (..., bytes) as rows of blocks of a quantised type."""
        array = np.ascontiguousarray(self.arrays[tensor.pointer])
        size, values = self.block(name)
        shape = (*array.shape[:-1], array.shape[-1] // size * values)
        made = self._placed(array, QUANTISED[name], _four(shape), None)
        return Tensor(made.pointer, shape)

    def block(self, name: str) -> tuple[int, int]:
        """Bytes and values of a block of a quantised type."""
        number = ctypes.c_int(QUANTISED[name])
        return tuple(int(self.library.function(f)(number)) for f in ("ggml_type_size", "ggml_blck_size"))

    def _placed(self, array: Array, number: int, sizes: Shape, strides: Shape | None) -> Tensor:
        """A new tensor in the memory of `array`."""
        four = [ctypes.c_int64(n) for n in sizes]
        tensor = Tensor(self._pointer("ggml_new_tensor_4d", self.context, ctypes.c_int(number), *four), array.shape)
        if strides is not None:
            ctypes.memmove(tensor.pointer + self.library.layout.nb, (ctypes.c_size_t * 4)(*strides), 32)
        self.arrays[tensor.pointer] = array
        data = ctypes.c_void_p(array.__array_interface__["data"][0])
        self.do("ggml_backend_tensor_alloc", self.device.everywhere, tensor, data)
        return tensor

    def integers(self, tensor: Tensor) -> Tensor:
        """The leaf's int64 values as a contiguous I32 tensor, the only integers that most of ggml takes."""
        return self.leaf(np.ascontiguousarray(self.arrays[tensor.pointer], dtype=np.int32))

    def copied(self, tensor: Tensor) -> Tensor:
        """A leaf over a copy of the leaf's array, for operators that write into their input."""
        return self.leaf(self.arrays[tensor.pointer].copy(order="C"))

    def call(self, name: str, *args: Any, shape: Shape | None = None) -> Tensor:
        """The tensor that `name(context, *args)` makes. Raises Unsupported for a type that it does not take.

        Python's bool, int and float become C's bool, int and float; a size_t or int64_t is given as such.
        `shape` is NumPy's shape of it: that of the first tensor where left out and of the same size.
        """
        first = next((a for a in args if isinstance(a, Tensor)), None)
        taken = types_of(name)
        if first is not None and self.type(first) not in taken:
            raise Unsupported(f"{name} on the CPU takes {' and '.join(taken)}, not {self.type(first)}")
        pointer = self._pointer(name, self.context, *map(_c, args))
        if shape is None:
            rank = 4 if first is None else len(first.shape)
            sizes = self.sizes(pointer)
            same = first is not None and sizes == self.sizes(first.pointer)
            shape = first.shape if first is not None and same else tuple(reversed(sizes))[4 - min(rank, 4) :]
        return Tensor(pointer, shape)

    def do(self, name: str, *args: Any) -> None:
        """A call that returns nothing and takes no context."""
        self.library.function(name)(*map(_c, args))

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

    def run(self, outputs: Sequence[Tensor]) -> list[Array]:
        """Compute, and copy the outputs out."""
        for y in outputs:
            self.do("ggml_set_output", y)  # its memory is not reused, and no fused kernel skips it
            self.do("ggml_build_forward_expand", self.graph, y)
        self._compute()
        return [self.read(y) for y in outputs]

    def differentiate(self, outputs: Sequence[Tensor], cotangents: Sequence[Array | None]) -> None:
        """Append the backward pass of the loss sum(y g), summed over the outputs that have a cotangent."""
        for y, g in zip(outputs, cotangents, strict=True):
            if g is None:
                continue
            self.do("ggml_set_output", y)
            product = self.call("ggml_mul", self.leaf(np.ascontiguousarray(g)), y)
            loss = self.call("ggml_sum", product, shape=())
            self.do("ggml_set_loss", loss)
            self.do("ggml_build_forward_expand", self.graph, loss)
        self.do("ggml_build_backward_expand", self.context, self.graph, None)

    def gradients(self, inputs: Sequence[Tensor | None]) -> list[Array | None]:
        """Compute, and copy out the gradients of `inputs`; zeros where the loss does not depend on one."""
        self._compute()
        found: list[Array | None] = []
        for x in inputs:
            grad = 0 if x is None else self._pointer("ggml_graph_get_grad", self.graph, ctypes.c_void_p(x.pointer))
            if x is None:
                found.append(None)
            elif not grad:
                found.append(np.zeros(x.shape, np.float32))
            else:
                same = self.sizes(grad) == self.sizes(x.pointer)
                found.append(self.read(Tensor(grad, x.shape if same else tuple(reversed(self.sizes(grad))))))
        return found

    def read(self, tensor: Tensor) -> Array:
        """The tensor's values as a new array, cut to the shape in which NumPy sees it."""
        sizes, strides = self.sizes(tensor.pointer), self.strides(tensor.pointer)
        nbytes = self.library.function("ggml_nbytes")
        nbytes.restype = ctypes.c_size_t
        quantised = self.type(tensor) in QUANTISED
        dtype = np.dtype(np.uint8) if quantised else _dtype(self.type(tensor))
        if 0 in sizes:
            return np.zeros(tensor.shape, dtype)
        memory = (ctypes.c_char * nbytes(ctypes.c_void_p(tensor.pointer))).from_address(
            self._pointer("ggml_get_data", ctypes.c_void_p(tensor.pointer))
        )
        if quantised:
            return np.frombuffer(memory, np.uint8).copy().reshape(tensor.shape)
        view: Array = np.ndarray(tuple(reversed(sizes)), dtype, memory, strides=tuple(reversed(strides)))
        return view.copy().reshape(tensor.shape)

    def _compute(self) -> None:
        """Allocate what has no memory yet, poison it, run.

        Raises MemoryError where there is none, and BackendFailed where a kernel wrote past the last tensor's end.
        """
        self._check()
        zone = self._pointer("ggml_new_tensor_1d", self.context, ctypes.c_int(TYPES["i8"]), ctypes.c_int64(_ZONE))
        allocate = self.library.function("ggml_backend_alloc_ctx_tensors")
        allocate.restype = ctypes.c_void_p
        self._buffer = ctypes.c_void_p(allocate(self.context, self.device.backend))
        if not self._buffer:
            raise MemoryError("ggml_backend_alloc_ctx_tensors gave no memory")
        self.library.function("ggml_backend_buffer_clear")(self._buffer, ctypes.c_uint8(0xFF))  # NaN in all types
        if self.gradient:
            self.do("ggml_graph_reset", self.graph)
        status = self.library.function("ggml_backend_graph_compute")(self.device.backend, self.graph)
        if status:
            raise MemoryError(f"ggml_backend_graph_compute gave status {status}")
        if written := _ZONE - ctypes.string_at(self._pointer("ggml_get_data", ctypes.c_void_p(zone)), _ZONE).count(b"\xff"):
            raise BackendFailed(f"ggml wrote past the end of its last tensor: {written} bytes of the {_ZONE} behind it")

    def _check(self) -> None:
        """Ask the backend about every node. Raises Unsupported in its words."""
        count = self.library.function("ggml_graph_n_nodes")(self.graph)
        supports = self.library.function("ggml_backend_supports_op")
        supports.restype = ctypes.c_bool
        for i in range(count):
            node = ctypes.c_void_p(self._pointer("ggml_graph_node", self.graph, ctypes.c_int(i)))
            if not supports(self.device.backend, node):
                describe = self.library.function("ggml_op_desc")
                describe.restype = ctypes.c_char_p
                raise Unsupported(f"ggml's CPU backend says that it does not support this {describe(node).decode()}")

    def _pointer(self, name: str, *args: Any) -> int:
        function = self.library.function(name)
        function.restype = ctypes.c_void_p
        return int(function(*args) or 0)


def _c(value: Any) -> Any:
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


def _four(shape: Shape) -> Shape:
    """NumPy's shape as ne[4]."""
    return (*reversed(shape), 1, 1, 1, 1)[:4]


def _folded(array: Array) -> Array:
    """`array` with at most four axes, the first ones as one."""
    if array.ndim <= 4:
        return array
    shape = (math.prod(array.shape[:-3]), *array.shape[-3:])
    folded = array.reshape(shape)
    if array.size and not np.may_share_memory(folded, array):
        raise Unsupported(f"a ggml tensor has at most 4 axes, and these {array.ndim} do not lie in memory as 4 would")
    return folded


def _strides(array: Array) -> Shape:
    """nb[4] of an array; an axis of size 1 gets the stride it would have without gaps."""
    strides, step = [], array.itemsize
    for size, stride in zip(reversed(array.shape), reversed(array.strides), strict=True):
        strides.append(step if size == 1 else stride)
        step = strides[-1] * size
    while len(strides) < 4:
        strides.append(step)
    return tuple(strides)


def _dtype(name: str) -> np.dtype[Any]:
    if name == "bf16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)  # type: ignore[no-any-return]
    return np.dtype({"f32": "float32", "f16": "float16", "i32": "int32", "i64": "int64"}[name])
