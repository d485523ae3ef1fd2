"""Memory of a device through a C library's own functions, so that opproof needs no binding to any device.

The four functions are opproof_device_type, opproof_alloc, opproof_free and opproof_copy of opproof.h.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.backends.c.structs import CPU
from opproof.backends.protocol import DeviceLost
from opproof.core.errors import BackendError

COPY_TO_DEVICE, COPY_FROM_DEVICE = 0, 1
MESSAGE_SIZE = 1024
TEXT = (ctypes.c_char_p, ctypes.c_size_t)
SIGNATURES: dict[str, tuple[Any, ...]] = {
    "opproof_device_type": (),
    "opproof_alloc": (ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p), *TEXT),
    "opproof_free": (ctypes.c_void_p, *TEXT),
    "opproof_copy": (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int32, *TEXT),
}

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class DeviceMemory:
    """A device's code in DLPack, and the library's functions on its memory by their names in opproof.h."""

    device_type: int
    functions: dict[str, Callable[..., int]]

    def alloc(self, nbytes: int) -> int:
        """A handle to `nbytes` bytes. Raises MemoryError where the library has none left."""
        memory = ctypes.c_void_p()
        reason = self._failure("opproof_alloc", nbytes, ctypes.byref(memory))
        if reason or not memory.value:
            raise MemoryError(reason or f"opproof_alloc gave no memory for {nbytes} bytes")
        return memory.value

    def free(self, handle: int) -> None:
        """Give memory back. Raises DeviceLost."""
        self._must("opproof_free", handle)

    def copy_in(self, handle: int, host: Bytes) -> None:
        """Copy contiguous bytes to the beginning of a device's memory. Raises DeviceLost."""
        self._must("opproof_copy", handle, _address_of(host), host.size, COPY_TO_DEVICE)

    def copy_out(self, host: Bytes, handle: int) -> None:
        """Fill contiguous bytes from the beginning of a device's memory. Raises DeviceLost."""
        self._must("opproof_copy", _address_of(host), handle, host.size, COPY_FROM_DEVICE)

    def _must(self, name: str, *arguments: Any) -> None:
        reason = self._failure(name, *arguments)
        if reason:
            raise DeviceLost(reason)

    def _failure(self, name: str, *arguments: Any) -> str:
        """Why the function failed; empty where it did not."""
        message = ctypes.create_string_buffer(MESSAGE_SIZE)
        code = self.functions[name](*arguments, message, MESSAGE_SIZE)
        said = message.raw.partition(b"\0")[0].decode(errors="replace").strip()
        return "" if code == 0 else f"{name} returned {code}: {said}" if said else f"{name} returned {code}"


def device_memory(library: ctypes.CDLL, path: Path) -> DeviceMemory | None:
    """The memory in which the library wants its tensors; None for the CPU's.

    Raises BackendError where functions are missing, or bytes do not come back as they were.
    """
    functions = {name: f for name in SIGNATURES if (f := _find_function(library, name)) is not None}
    if "opproof_device_type" not in functions:
        return None
    device_type = functions.pop("opproof_device_type")()
    if device_type == CPU:
        return None
    if device_type < 1:
        raise BackendError(f"opproof_device_type of {path} returned {device_type}: expected a DLPack code, 2 for CUDA.")
    missing = [name for name in SIGNATURES if name not in functions and name != "opproof_device_type"]
    if missing:
        raise BackendError(
            f"{path} wants its tensors on a device of type {device_type} and exports no {' and no '.join(missing)}: "
            f"opproof.h says what they do, and without them opproof cannot place a tensor there."
        )
    memory = DeviceMemory(device_type, functions)
    _try(memory, path)
    return memory


def _try(memory: DeviceMemory, path: Path) -> None:
    """Send bytes there and back once."""
    sent = np.arange(4099, dtype=np.uint32).astype(np.uint8)
    back = np.zeros_like(sent)
    try:
        handle = memory.alloc(sent.size)
        memory.copy_in(handle, sent)
        memory.copy_out(back, handle)
        memory.free(handle)
    except (MemoryError, DeviceLost) as error:
        raise BackendError(f"the device of {path} cannot be used: {error}.") from None
    wrong = int(np.count_nonzero(sent != back))
    if wrong:
        raise BackendError(
            f"opproof_copy of {path} changes what it copies: {wrong} of {sent.size} bytes came back from the device "
            f"other than they were sent; mend it before any case can run."
        )


def _find_function(library: ctypes.CDLL, name: str) -> Callable[..., int] | None:
    try:
        function = library[name]
    except AttributeError:
        return None
    function.argtypes, function.restype = list(SIGNATURES[name]), ctypes.c_int32
    return function


def _address_of(host: Bytes) -> int:
    return int(host.__array_interface__["data"][0])


__all__ = ["DeviceMemory", "device_memory"]
