"""The tensors of a call in the memory of a device: buffers travel whole, canaries and all, and come back after it.

opproof can set no page of a device unreadable. Its buffers lie between zones that hold the canary, as soft guards
do, and every check is made on the copies that came back: a write out of bounds is seen, a read only if it changes
the result.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from opproof.backends.c.device import DeviceMemory
from opproof.backends.c.structs import DeviceArray
from opproof.backends.host.request import Range
from opproof.core.arrays import Array

#: From an array in the arena to what the backend is given for it.
Lend: TypeAlias = Callable[[Array | None], Any]


@contextmanager
def borrowed(device: DeviceMemory | None, memory: NDArray[np.uint8], zones: Collection[Range]) -> Iterator[Lend]:
    """Lend arrays as they are, or, where there is a device, by copies on it which come back at the end.

    Raises MemoryError and DeviceLost.
    """
    if device is None:
        yield lambda array: array
        return
    handles: list[tuple[int, NDArray[np.uint8]]] = []
    try:
        for start, end in zones:
            handles.append((device.alloc(end - start), memory[start:end]))
            device.copy_in(*handles[-1])
        yield lambda array: None if array is None else _on_device(array, device.device_type, handles)
        for handle, zone in handles:
            device.copy_out(zone, handle)
    finally:
        for handle, _ in handles:
            device.free(handle)


def _on_device(array: Array, device_type: int, handles: Collection[tuple[int, NDArray[np.uint8]]]) -> DeviceArray:
    """The copy of `array`, which lies in one of the zones."""
    for handle, zone in handles:
        offset = _address(array) - _address(zone)
        if 0 <= offset <= zone.size:
            return DeviceArray(handle, offset, device_type, array.dtype, array.shape, array.strides)
    raise ValueError(f"an array of shape {array.shape} lies in none of the call's buffers.")


def _address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])
