"""The fault drill's backend: the references, but one call in twenty goes wrong, in one of the ways of KINDS.

A call's fault depends on its operator, shapes, dtype and parameters, never on its data.
"""

import asyncio
import ctypes
import mmap
import os
import signal
import subprocess
import sys
import threading
import time
import zlib

import numpy as np

from opproof.backends.numpy import NumPy
from opproof.backends.protocol import Unsupported

honest = NumPy()
version, device = "13", "drill"
libc, with_gil = ctypes.CDLL(None), ctypes.PyDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]

#: Seconds after its call at which what a thread left behind does harm.
LATE = 0.02
LONG = 600
PAGE = mmap.PAGESIZE


class Odd(BaseException):
    """No Exception."""


class Mute(Exception):
    """It cannot say what it is."""

    def __str__(self):
        raise ValueError("no text")


class Lazy(np.ndarray):
    """It could compute when it is read."""


def double_free(_):
    block = libc.malloc(48)
    libc.free(block)
    libc.free(block)


def segfault_in_a_thread(_):
    thread = threading.Thread(target=ctypes.memset, args=(None, 0, 8))
    thread.start()
    thread.join()


def overflow(_):
    libc.regcomp(ctypes.create_string_buffer(4096), b"(" * 1_000_000, 1)  # as deep a recursion, in C


def recurse(inputs):
    recurse(inputs)


def grow(_):
    blocks = []
    while True:
        blocks.append(b"x" * 2**25)
        time.sleep(0.01)


def write_everywhere(_):
    for descriptor in range(64):
        try:
            os.write(descriptor, b"\xff" * 64)
        except OSError:
            continue


def flood(_):
    for _ in range(160):
        os.write(1, b"x" * 2**16)


def fork_and_return(_):
    child = os.fork()
    if child:
        os.waitpid(child, 0)


def leave_processes(_):
    forking = "import os, time\nif not os.fork():\n    os.setsid()\n    time.sleep(600)"
    subprocess.run([sys.executable, "-I", "-S", "-c", forking], check=True)
    subprocess.Popen(["sleep", str(LONG)], start_new_session=True)


def segfault_later(_):
    timer = threading.Timer(LATE, ctypes.memset, (None, 0, 8))
    timer.daemon = True
    timer.start()


def write_later(inputs):
    """Over whole pages: what is around the input is hit wherever it stands on them, so the verdict is one."""
    low, high = limits(first(inputs))
    start, end = low // PAGE * PAGE, -(-high // PAGE) * PAGE

    def write():
        while True:
            time.sleep(0.001)
            ctypes.memset(start, 0x5A, end - start)

    threading.Thread(target=write, daemon=True).start()


def scribble(inputs):
    array = first(inputs)
    low, _ = limits(array)
    ctypes.memmove(low, bytes(byte ^ 0x55 for byte in ctypes.string_at(low, array.itemsize)), array.itemsize)


def raising(error):
    def fault(_):
        raise error

    return fault


#: What a call does before it answers rightly, if it still does, and what the run must call that.
DEEDS = {
    "abort": (lambda _: os.abort(), "CRASH"),
    "segfault": (lambda _: ctypes.memset(None, 0, 8), "CRASH"),
    "segfault in a thread": (segfault_in_a_thread, "CRASH"),
    "_exit(0)": (lambda _: os._exit(0), "CRASH"),
    "_exit(3)": (lambda _: os._exit(3), "CRASH"),
    "exit(0)": (lambda _: libc.exit(0), "CRASH"),
    "SIGKILL": (lambda _: os.kill(os.getpid(), signal.SIGKILL), "CRASH"),
    "SIGTERM": (lambda _: os.kill(os.getpid(), signal.SIGTERM), "CRASH"),
    "double free": (double_free, "CRASH"),
    "stack overflow": (overflow, "CRASH"),
    "descriptors closed": (lambda _: os.closerange(0, 1024), "CRASH"),
    "bytes to every descriptor": (write_everywhere, "ERROR"),
    "SIGSTOP": (lambda _: os.kill(os.getpid(), signal.SIGSTOP), "TIMEOUT"),
    "hang": (lambda _: time.sleep(LONG), "TIMEOUT"),
    "hang with the GIL": (lambda _: with_gil.sleep(LONG), "TIMEOUT"),
    "growing memory": (grow, "OUT_OF_MEMORY"),
    "MemoryError": (raising(MemoryError()), "OUT_OF_MEMORY"),
    "Exception": (raising(ValueError("bad")), "ERROR"),
    "BaseException": (raising(Odd("odd")), "ERROR"),
    "KeyboardInterrupt": (raising(KeyboardInterrupt()), "ERROR"),
    "CancelledError": (raising(asyncio.CancelledError()), "ERROR"),
    "SystemExit": (raising(SystemExit(0)), "ERROR"),
    "GeneratorExit": (raising(GeneratorExit()), "ERROR"),
    "lone surrogate": (raising(ValueError("bad \udc80")), "ERROR"),
    "no text": (raising(Mute()), "ERROR"),
    "RecursionError": (recurse, "ERROR"),
    "scribble": (scribble, "INPUT_CHANGED"),
    "overrun": (lambda inputs: ctypes.memset(limits(first(inputs))[1], 0x5A, 1), "OUT_OF_BOUNDS"),
    "underrun": (lambda inputs: ctypes.memset(limits(first(inputs))[0] - 1, 0x5A, 1), "OUT_OF_BOUNDS"),
    "early read": (lambda inputs: ctypes.string_at(limits(first(inputs))[0] - 1, 1), "OUT_OF_BOUNDS"),
    "far read": (lambda inputs: ctypes.string_at(limits(first(inputs))[1] + 8192, 1), "OUT_OF_BOUNDS"),
    "Unsupported": (raising(Unsupported("not today")), "UNSUPPORTED"),
    "NotImplementedError": (raising(NotImplementedError("not today")), "UNSUPPORTED"),
    # These do their harm after the call has returned, the alarm 0.3 s later.
    "late segfault": (segfault_later, "CRASH"),
    "late write": (write_later, "OUT_OF_BOUNDS"),
    "alarm": (lambda _: libc.ualarm(300_000, 0), "CRASH"),
    # These do none.
    "10 MB printed": (flood, "PASS"),
    "forked copy that returns": (fork_and_return, "PASS"),
    "processes left behind": (leave_processes, "PASS"),
}


def negated(array):
    return (-array).astype(array.dtype)


def noisy(array):
    return (array * np.random.default_rng().uniform(2, 3, array.shape)).astype(array.dtype)


def widened(array):
    return array.astype(np.float32 if array.dtype == np.float64 else np.float64)


#: What a call makes of each of its results, and what the run must call that.
RESULTS = {
    "wrong shape": (lambda y: y[None], "WRONG_SHAPE"),
    "None": (lambda _: None, "WRONG_SHAPE"),
    "wrong dtype": (widened, "WRONG_DTYPE"),
    "big-endian": (lambda y: y.astype(y.dtype.newbyteorder(">")), "WRONG_DTYPE"),
    "lazy array": (lambda y: y.view(Lazy), "ERROR"),
    "zeros": (np.zeros_like, "WRONG_VALUE"),
    "NaN": (lambda y: np.full_like(y, np.nan), "WRONG_VALUE"),
    "negated": (negated, "WRONG_VALUE"),
    "noisy": (noisy, "NOT_REPEATABLE"),
}
#: These are made of all results together.
TOO_MANY, KEPT = "too many results", "kept by shape"

KINDS = {kind: verdict for kind, (_, verdict) in {**DEEDS, **RESULTS}.items()} | {
    TOO_MANY: "WRONG_SHAPE",
    KEPT: "NOT_REPEATABLE",
}
#: Operators that every element of their data changes, for what only values can show; the others have the other kinds.
SENSITIVE = frozenset(
    "exp matmul linear conv1d conv2d conv3d bmm dot outer_product mul add sub lerp mean sum cumsum mse_loss "
    "avg_pool1d avg_pool2d geglu swiglu upsample_bilinear rms_norm softmax silu gelu tanh sigmoid conv_transpose1d "
    "conv_transpose2d batch_norm conv2d_depthwise local_response_norm scaled_dot_product_attention kl_div "
    "group_norm layer_norm l2_norm std var neg square abs sqrt".split()
)
OF_VALUES = ["big-endian", "zeros", "NaN", "negated", "noisy", KEPT]
OF_VALUES += ["10 MB printed", "forked copy that returns", "processes left behind"]
OTHERS = [kind for kind in KINDS if kind not in OF_VALUES]
kept = {}


def call_of(op, inputs, params):
    """The call, without its data."""
    shapes = [None if x is None else (x.shape, x.dtype.name) for x in inputs]
    return repr((op, shapes, sorted(params.items(), key=str)))


def fault_of(op, inputs, params):
    """The kind of a call's fault, or None."""
    number = zlib.crc32(call_of(op, inputs, params).encode())
    kinds = OF_VALUES if op in SENSITIVE else OTHERS
    return kinds[number // 20 % len(kinds)] if number % 20 == 0 and first(inputs) is not None else None


def forward(op, inputs, params):
    fault = fault_of(op, inputs, params)
    if fault in DEEDS:
        DEEDS[fault][0](inputs)
    results = honest.forward(op, inputs, params)
    results = list(results) if isinstance(results, list | tuple) else [results]
    if fault == TOO_MANY:
        results.append(results[0])
    if fault == KEPT:
        results = kept.setdefault(call_of(op, inputs, params), results)
    return [RESULTS[fault][0](y) for y in results] if fault in RESULTS else results


def first(inputs):
    """The first input with elements, or None."""
    return next((x for x in inputs if x is not None and x.nbytes), None)


def limits(array):
    """First address of an array's elements, and the one past the last, whatever its strides."""
    low = high = array.ctypes.data
    for size, stride in zip(array.shape, array.strides, strict=True):
        low, high = low + min(0, (size - 1) * stride), high + max(0, (size - 1) * stride)
    return low, high + array.itemsize
