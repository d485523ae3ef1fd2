"""The fault drill's backend: the references, but one case in twenty crashes, hangs or corrupts memory."""

import ctypes
import os
import time
import zlib

from opproof.backends.numpy import NumPy

honest = NumPy()
version, device = "13", "drill"
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]

#: One fault each for as many twentieths of a twentieth; the hang costs its time limit, so it is rare.
FAULTS = (
    ["hang"] + 3 * ["abort", "segfault", "exit", "double free"] + 3 * ["scribble"] + 3 * ["overrun"] + ["early read"]
)


def fault_of(op, inputs, params):
    """The fault of a call, or None: it depends on shapes and parameters, never on data."""
    shapes = [None if x is None else (x.shape, x.dtype.name) for x in inputs]
    number = zlib.crc32(repr((op, shapes, sorted(params.items(), key=str))).encode())
    return FAULTS[number // 20 % len(FAULTS)] if number % 20 == 0 else None


def forward(op, inputs, params):
    commit(fault_of(op, inputs, params), inputs)
    return honest.forward(op, inputs, params)


def vjp(op, inputs, params, cotangents, needs):
    commit(fault_of(op, inputs, params), inputs)
    return honest.vjp(op, inputs, params, cotangents, needs)


def commit(fault, inputs):
    first = next((x for x in inputs if x is not None and x.nbytes), None)
    if fault == "abort":
        os.abort()
    if fault == "segfault":
        ctypes.memset(None, 0, 8)
    if fault == "exit":
        os._exit(3)
    if fault == "hang":
        time.sleep(600)
    if fault == "double free":
        block = libc.malloc(48)
        libc.free(block)
        libc.free(block)
    if first is None:
        return
    low, high = limits(first)
    if fault == "scribble":
        ctypes.memmove(low, bytes(byte ^ 0x55 for byte in ctypes.string_at(low, first.itemsize)), first.itemsize)
    if fault == "overrun":
        ctypes.memset(high, 0x5A, 1)
    if fault == "early read":
        ctypes.string_at(low - 1, 1)


def limits(array):
    """First address of an array's elements, and the one past the last, whatever its strides."""
    low = high = array.ctypes.data
    for size, stride in zip(array.shape, array.strides, strict=True):
        low, high = low + min(0, (size - 1) * stride), high + max(0, (size - 1) * stride)
    return low, high + array.itemsize
