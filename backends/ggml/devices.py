"""A device of ggml: the CPU as it always is, or another one of ggml's registry, by name.

The CPU computes in the case's own memory. So does every device that takes the CPU's buffers, such as BLAS. Any other
has memory of its own: tensors are copied there and back.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from opproof.backends.ggml.library import QUANTISED, TYPES, InitParams, Library
from opproof.backends.ggml.types import types_of
from opproof.backends.protocol import Unsupported
from opproof.backends.table import find_device
from opproof.core.arrays import Array
from opproof.core.errors import BackendError

_LIMIT = 2**62  # bytes of the buffer in which every array lies
_KINDS = {0: "CPU", 1: "GPU", 2: "GPU in the CPU's memory", 3: "accelerator"}  # enum ggml_backend_dev_type
#: Functions of one matrix, and of two, which `describe_devices` asks a device about.
_ONE = """
    abs sgn neg step tanh elu relu sigmoid hardsigmoid hardswish exp gelu gelu_erf gelu_quick silu sqr sqrt sin cos log
    sum sum_rows mean argmax cumsum cont soft_max
"""
_TWO = "add sub mul div mul_mat out_prod"
_SIDE = 64  # rows and columns of the matrices that it is asked about
_QUANTISED_SIDE = 256  # values in the largest block of a quantised type
_CONTEXT = 2**16  # bytes for two tensors and a node


@dataclass(frozen=True)
class Device:
    """A backend of ggml. `everywhere` is a buffer that spans the address space; None where the device has its own."""

    library: Library
    name: str
    backend: ctypes.c_void_p
    everywhere: ctypes.c_void_p | None
    set_threads: Callable[[int], None] | None

    def allocate(self, tensor: int, array: Array) -> ctypes.c_void_p | None:
        """Give a new tensor the memory of `array`, or a buffer on the device with a copy of it, which is returned."""
        place = ctypes.c_void_p(array.__array_interface__["data"][0])
        function = self._function
        if self.everywhere is not None:
            function("ggml_backend_tensor_alloc")(self.everywhere, ctypes.c_void_p(tensor), place)
            return None
        nbytes = self._size(tensor)
        kind = self._pointer("ggml_backend_get_default_buffer_type", self.backend)
        size = self._pointer("ggml_backend_buft_get_alloc_size", kind, ctypes.c_void_p(tensor))
        buffer = self._pointer("ggml_backend_alloc_buffer", self.backend, ctypes.c_size_t(max(size.value or 0, 1)))
        if not buffer:
            raise MemoryError(f"{self.name} gave no memory for {nbytes} bytes")
        base = self._pointer("ggml_backend_buffer_get_base", buffer)
        function("ggml_backend_tensor_alloc")(buffer, ctypes.c_void_p(tensor), base)
        if array.size:
            function("ggml_backend_tensor_set")(ctypes.c_void_p(tensor), place, *map(ctypes.c_size_t, (0, nbytes)))
        return buffer

    def read(self, tensor: int) -> Array:
        """The bytes of a tensor: a view of them on the CPU, else a copy."""
        nbytes = self._size(tensor)
        if self.everywhere is not None:
            place = self._pointer("ggml_get_data", ctypes.c_void_p(tensor)).value
            return np.ndarray((nbytes,), np.uint8, memoryview((ctypes.c_char * nbytes).from_address(place or 0)))
        found = np.empty(nbytes, np.uint8)
        self._function("ggml_backend_tensor_get")(
            ctypes.c_void_p(tensor), ctypes.c_void_p(found.ctypes.data), *map(ctypes.c_size_t, (0, nbytes))
        )
        return found

    def fill_buffer(self, buffer: ctypes.c_void_p, byte: int) -> None:
        """Write `byte` everywhere by a copy: ggml_backend_buffer_clear of Vulkan writes three bytes of 0 between."""
        with self._whole(buffer) as tensor:
            size = self._size(tensor)
            filled = np.full(size, byte, np.uint8)
            self._function("ggml_backend_tensor_set")(
                ctypes.c_void_p(tensor), ctypes.c_void_p(filled.ctypes.data), *map(ctypes.c_size_t, (0, size))
            )

    def read_buffer(self, buffer: ctypes.c_void_p) -> tuple[int, Array]:
        """Where a buffer begins, in the numbers of ggml_get_data, and its bytes."""
        with self._whole(buffer) as tensor:
            return self._pointer("ggml_get_data", ctypes.c_void_p(tensor)).value or 0, self.read(tensor)

    @contextmanager
    def _whole(self, buffer: ctypes.c_void_p) -> Iterator[int]:
        """A tensor of bytes that is the whole of a buffer."""
        base, size = (self._pointer(f"ggml_backend_buffer_get_{what}", buffer).value or 0 for what in ("base", "size"))
        context = _make_context(self.library)
        tensor = self._pointer("ggml_new_tensor_1d", context, ctypes.c_int(TYPES["i8"]), ctypes.c_int64(size))
        self._function("ggml_backend_tensor_alloc")(buffer, tensor, ctypes.c_void_p(base))
        yield tensor.value or 0
        self._function("ggml_free")(context)

    def _size(self, tensor: int) -> int:
        return self._pointer("ggml_nbytes", ctypes.c_void_p(tensor)).value or 0

    def _function(self, name: str) -> Any:
        return self.library.function(name)

    def _pointer(self, name: str, *args: Any) -> ctypes.c_void_p:
        return _call_pointer(self.library, name, *args)


def open_device(library: Library, name: str | None = None) -> Device:
    """The CPU with one thread, or the device of that name; never closed. Raises BackendError where it is not there."""
    everywhere: ctypes.c_void_p | None = _span_everything(library)
    if name is None:
        backend = _call_pointer(library, "ggml_backend_cpu_init")
        set_threads = library.function("ggml_backend_cpu_set_n_threads")
        device = Device(library, "CPU", backend, everywhere, lambda count: set_threads(backend, ctypes.c_int(count)))
    else:
        registered = _registered(library)
        name = find_device("ggml", name, list(registered))
        backend = _call_pointer(library, "ggml_backend_dev_init", registered[name], None)
        if not backend:
            raise BackendError(f"backend ggml: the device {name} could not be opened; try it with a program of ggml's.")
        everywhere = everywhere if _takes_host_memory(library, registered[name]) else None
        device = Device(library, name, backend, everywhere, _find_set_threads(library, registered[name], backend))
    if device.set_threads is not None:
        device.set_threads(1)
    return device


def describe_devices(library: Library) -> dict[str, str]:
    """By the name of each device of the registry: its kind, what it is, and which of the functions asked for it has."""
    return {name: _describe(library, device) for name, device in _registered(library).items()}


def _registered(library: Library) -> dict[str, ctypes.c_void_p]:
    """The devices of ggml's registry by name. Raises BackendError where this build has none."""
    try:
        count = library.function("ggml_backend_dev_count")
        count.restype = ctypes.c_size_t
        if not count():  # of a build whose backends are loaded at run time
            library.function("ggml_backend_load_all_from_path")(str(library.folder).encode())
    except Unsupported as error:
        raise BackendError(
            f"backend ggml: {library.path} has no registry of devices ({error}); give the folder with its libggml."
        ) from None
    found = [_call_pointer(library, "ggml_backend_dev_get", ctypes.c_size_t(i)) for i in range(count())]
    return {_call_text(library, "ggml_backend_dev_name", device): device for device in found}


def _describe(library: Library, device: ctypes.c_void_p) -> str:
    kind = library.function("ggml_backend_dev_type")(device)
    what = _call_text(library, "ggml_backend_dev_description", device)
    has = {
        t: [f for f in (*_ONE.split(), *_TWO.split()) if _has(library, device, f, t)] for t in ("f32", "f16", "bf16")
    }
    asked = len((_ONE + _TWO).split())
    products = [t for t in QUANTISED if t != "q8_1" and _has(library, device, "mul_mat", t)]
    counts = ", ".join(f"{len(found)} in {t}" for t, found in has.items())
    return (
        f"{_KINDS.get(kind, 'device')}, {what.strip()}; of {asked} functions {counts}; "
        f"mul_mat with {', '.join(products or ['no quantised type'])}"
    )


def _has(library: Library, device: ctypes.c_void_p, function: str, type_name: str) -> bool:
    """Whether the device says that it computes `function` of contiguous matrices whose first is of the type."""
    name = f"ggml_{function}"
    if not library.has(name) or not library.has_type(type_name) or type_name not in types_of(name, library.version):
        return False  # ggml aborts where a node is made of a type that it does not take
    context = _make_context(library)
    side = ctypes.c_int64(_QUANTISED_SIDE if type_name in QUANTISED else _SIDE)
    first, second = (
        _call_pointer(library, "ggml_new_tensor_2d", context, ctypes.c_int(number), side, side)
        for number in ({**TYPES, **QUANTISED}[type_name], TYPES["f32"])
    )
    node = _call_pointer(library, name, context, first, *[second] * (function in _TWO.split()))
    supports = library.function("ggml_backend_dev_supports_op")
    supports.restype = ctypes.c_bool
    answer = bool(supports(device, node))
    library.function("ggml_free")(context)
    return answer


def _takes_host_memory(library: Library, device: ctypes.c_void_p) -> bool:
    """Whether it computes in the memory of arrays, as the CPU does."""
    supports = library.function("ggml_backend_dev_supports_buft")
    supports.restype = ctypes.c_bool
    return bool(supports(device, _call_pointer(library, "ggml_backend_cpu_buffer_type")))


def _span_everything(library: Library) -> ctypes.c_void_p:
    """A buffer that any array lies in."""
    return _call_pointer(library, "ggml_backend_cpu_buffer_from_ptr", ctypes.c_void_p(4096), ctypes.c_size_t(_LIMIT))


def _find_set_threads(
    library: Library, device: ctypes.c_void_p, backend: ctypes.c_void_p
) -> Callable[[int], None] | None:
    """What tells an open device its number of threads; None where it has none of the CPU's."""
    registry = _call_pointer(library, "ggml_backend_dev_backend_reg", device)
    place = _call_pointer(library, "ggml_backend_reg_get_proc_address", registry, b"ggml_backend_set_n_threads")
    if not place:
        return None
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int)(place.value or 0)
    return lambda count: function(backend, count)


def _make_context(library: Library) -> ctypes.c_void_p:
    return _call_pointer(library, "ggml_init", InitParams(_CONTEXT, None, True))


def _call_pointer(library: Library, name: str, *args: Any) -> ctypes.c_void_p:
    function = library.function(name)
    function.restype = ctypes.c_void_p
    return ctypes.c_void_p(function(*args))


def _call_text(library: Library, name: str, *args: Any) -> str:
    function = library.function(name)
    function.restype = ctypes.c_char_p
    return str(function(*args).decode(errors="replace"))
