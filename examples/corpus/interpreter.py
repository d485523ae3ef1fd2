"""What published kernels need of Triton's interpreter, and it does not have (3.9.0); imported before any of them.

Its launches exchange attributes of `triton.language` for all threads, so two at a time end in errors of no kernel's.
Numbers that are no constants, and those that a loop counts, reach a kernel as Python's, without a dtype. Functions of
libdevice return None. An autotuner asks a driver for the time. The bit patterns of bfloat16 are added as integers: that
is not mended, and no entry is judged in bfloat16.
"""

import os
import threading

os.environ["TRITON_INTERPRET"] = "1"

import numpy as np
import triton.language as tl
from scipy import special
from triton.language.extra import libdevice
from triton.runtime import autotuner, interpreter

#: One launch at a time.
LOCK = threading.RLock()
#: What kernels call of libdevice, in NumPy.
LIBDEVICE = {
    "erf": special.erf, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log1p": np.log1p,
    "log2": np.log2, "pow": np.power, "rsqrt": lambda x: 1 / np.sqrt(x), "tanh": np.tanh,
}  # fmt: skip


def make_tensor(data, dtype):
    """A tensor of the interpreter."""
    return tl.tensor(interpreter.TensorHandle(data, dtype), dtype)


def make_elementwise(function):
    """A function of libdevice, by NumPy's."""

    def call(*tensors):
        first = tensors[0]
        given = [t.handle.data if isinstance(t, tl.tensor) else t for t in tensors]
        data = np.asarray(function(*given), dtype=given[0].dtype)
        return tl.tensor(interpreter.TensorHandle(data, first.handle.dtype), first.type)

    return call


def lock_launch(launch):
    """The launch of a grid, by one thread at a time."""

    def call(self, *args, **kwargs):
        with LOCK:
            return launch(self, *args, **kwargs)

    return call


def convert_floats(convert):
    """The conversion of arguments, by which a number of Python becomes one of 32 bits, as in a compiled kernel."""
    return lambda arg: make_tensor(np.array([arg], np.float32), tl.float32) if type(arg) is float else convert(arg)


def count(*bounds):
    """Python's range; where a bound is a tensor its numbers are too, as they are in a compiled kernel."""
    numbers = range(*map(int, bounds))
    if not any(isinstance(bound, tl.tensor) for bound in bounds):
        return numbers
    return (make_tensor(np.array([n], np.int32), tl.int32) for n in numbers)


def count_tensors(rewrite):
    """The rewriting of a kernel, after which its module counts so."""

    def call(self, tree):
        self.fn.__globals__.setdefault("range", count)
        return rewrite(self, tree)

    return call


def mend():
    """Mend the interpreter of this process, once."""
    for name, function in LIBDEVICE.items():
        setattr(libdevice, name, make_elementwise(function))
    grid, rewriter, tuner = interpreter.GridExecutor, interpreter.FunctionRewriter, autotuner.Autotuner
    grid.__call__ = lock_launch(grid.__call__)
    interpreter._implicit_cvt = convert_floats(interpreter._implicit_cvt)
    rewriter._compile_and_exec = count_tensors(rewriter._compile_and_exec)
    # All configurations are right or wrong alike: the first is taken.
    tuner._bench = lambda self, *args, config, **kwargs: [0.0]
    tuner.check_disk_cache = lambda self, key, configs, benchmark: benchmark()
