"""Arrays in a device's memory, each between two zones of known bytes: a device has no guard pages.

The zones of inputs hold nan, so that a read past the end shows in the result; those of outputs hold a number, so that
a nan written there shows too. What is written outside an output, or anywhere in an input, is found afterwards.
"""

from dataclasses import dataclass

import numpy as np
import pyopencl as cl

from opproof.backends import InputChanged, OutOfBounds

ZONE = 1 << 14  # bytes on each side; a multiple of every device's alignment of sub-buffers
NAN, NUMBER = 0xFF, 0xC3


@dataclass(frozen=True)
class Placed:
    """The elements of `host`, gaps between them included, on the device: `data` lies between the zones of `whole`."""

    name: str
    host: np.ndarray
    data: cl.Buffer
    whole: cl.Buffer
    before: np.ndarray  # bytes of `whole` before the call
    written: bool  # an output


def bytes_of(array: np.ndarray) -> np.ndarray:
    """The bytes of `array` where they lie, from its first element to its last; strides are not negative."""
    span = 1 + sum((n - 1) * s // array.itemsize for n, s in zip(array.shape, array.strides, strict=True))
    flat = np.lib.stride_tricks.as_strided(array, (span if array.size else 0,), (array.itemsize,))
    return flat.view(np.uint8)


def place(queue: cl.CommandQueue, name: str, array: np.ndarray, *, written: bool) -> Placed:
    """`array` copied to the device. An output takes its poison along, so that what no kernel writes is seen."""
    data = bytes_of(array)
    before = np.full(2 * ZONE + max(data.size, 1), NUMBER if written else NAN, np.uint8)
    before[ZONE : ZONE + data.size] = data
    whole = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=before)
    return Placed(name, array, whole.get_sub_region(ZONE, max(data.size, 1)), whole, before, written)


def fetch(queue: cl.CommandQueue, placed: Placed) -> None:
    """Look at the zones; bring an output home. Raises OutOfBounds or InputChanged, which say what was written."""
    after = np.empty_like(placed.before)
    cl.enqueue_copy(queue, after, placed.whole)
    changed = np.flatnonzero(after != placed.before)
    end = ZONE + bytes_of(placed.host).size
    past, early, inside = changed[changed >= end], changed[changed < ZONE], (changed >= ZONE) & (changed < end)
    if past.size:
        said = f"{past.size} bytes past its end were written, the nearest {past[0] - end} bytes away"
        raise OutOfBounds(f"{placed.name}: {said}")
    if early.size:
        said = f"{early.size} bytes before its beginning were written, the nearest {ZONE - 1 - early[-1]} bytes away"
        raise OutOfBounds(f"{placed.name}: {said}")
    if placed.written:
        bytes_of(placed.host)[:] = after[ZONE:end]
    elif inside.any():
        raise InputChanged(f"{placed.name}: {inside.sum()} of {end - ZONE} bytes")
