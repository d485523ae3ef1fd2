"""A backend that does one thing wrong for each operator named; all others it gets right. Given to -b as a file."""

import ctypes
import os
import random
import time

import numpy as np

from opproof.backends import Unsupported
from opproof.backends.numpy import NumPy

honest = NumPy()
version, device = "7", "test bench"
cache: dict = {}
calls = 0


def supports(op, dtypes, params):
    return "no tan on this device" if op == "tan" else True


def forward(op, inputs, params):
    right = honest.forward(op, inputs, params)
    return FORWARD[op](right, inputs) if op in FORWARD else right


def vjp(op, inputs, params, cotangents, needs):
    right = honest.vjp(op, inputs, params, cotangents, needs)
    return VJP[op](right, inputs) if op in VJP else right


def past(array, write):
    """One element past the end of a buffer."""
    address = array.ctypes.data + array.nbytes
    return ctypes.memset(address, 1, array.itemsize) if write else ctypes.string_at(address, array.itemsize)


def stale(right, inputs):
    return cache.setdefault(inputs[0].shape, right)


def counts(right, inputs):
    global calls
    calls += 1
    return [right[0] * np.float32(1 + calls / 100)]


def remembers(right, inputs):
    """Right the first time in a process, wrong ever after, but always the same then."""
    global calls
    calls += 1
    return right if calls == 1 else [right[0] * np.float32(1.5)]


def changes(array, right):
    array[...] = 0
    return right


def does(action):
    def fault(right, inputs):
        action()
        return right

    return fault


def raises(error):
    def fault(right, inputs):
        raise error

    return fault


def keeps(right, inputs):
    """Right, but never gives its 24 MiB back."""
    cache[len(cache)] = np.ones(3 * 2**20)
    return right


def grow():
    hoard = []
    while True:
        hoard.append(np.ones(2**20))


class Lazy(np.ndarray):
    """An array that could compute when it is looked at."""


FORWARD = {
    "neg": lambda right, inputs: [-right[0]],
    "abs": lambda right, inputs: [right[0][:, :-1]],
    "add1": lambda right, inputs: [right[0], right[0]],
    "square": lambda right, inputs: [right[0].astype(np.float64)],
    "exp": lambda right, inputs: changes(inputs[0], right),
    "sin": stale,
    "cos": lambda right, inputs: [right[0] + np.float32(random.gauss())],
    "tanh": counts,
    "floor": lambda right, inputs: [right[0].astype(">f4")],
    "ceil": lambda right, inputs: [right[0].view(Lazy)],
    "argmax": lambda right, inputs: [np.full_like(right[0], 3)],
    "erf": remembers,
    "sqrt": raises(ZeroDivisionError("no  roots\ntoday")),
    "log": raises(SystemExit(4)),
    "sigmoid": raises(Unsupported("not on Tuesdays")),
    "silu": raises(MemoryError("of the device")),
    "elu": does(os.abort),
    "sum": does(lambda: ctypes.memset(None, 0, 8)),
    "mean": does(lambda: os._exit(3)),
    "prod": does(lambda: ctypes.CDLL(None).exit(0)),
    "cumsum": does(lambda: os._exit(0)),
    "amax": does(lambda: time.sleep(60)),
    "mul": does(grow),
    "softsign": keeps,
    "sub": lambda right, inputs: does(lambda: past(inputs[0], write=False))(right, inputs),
    "div": lambda right, inputs: does(lambda: past(inputs[0], write=True))(right, inputs),
    "round": lambda right, inputs: does(lambda: past(inputs[0], write=True))(right, inputs),
    "gelu": does(lambda: os.write(1, b"noise on stdout\n" * 5)),
}
VJP = {
    "neg": lambda right, inputs: [2 * right[0]],
    "abs": lambda right, inputs: [right[0].T],
    "atan": lambda right, inputs: [right[0].T],
    "sum": lambda right, inputs: [np.ones_like(right[0])],
    "square": lambda right, inputs: [right[0].astype(np.float64)],
    "exp": lambda right, inputs: [None],
    "exp2": raises(Unsupported("")),
    "expm1": lambda right, inputs: [],
    "gelu": raises(RuntimeError("no gradient of gelu")),
}
