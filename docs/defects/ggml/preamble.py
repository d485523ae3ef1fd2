"""ggml through ctypes: what the programs of this page begin with.

It takes the libraries of the wheel pywhispercpp (ggml 0.13.1), or of the folder that GGML names. Sizes are NumPy's, the
innermost last. `ggml` calls a function in one context; an int is C's int, a list of ints four int64_t or size_t.
"""

import ctypes
import importlib.util
import os
import signal
from pathlib import Path

import numpy as np

os.environ["GGML_NO_BACKTRACE"] = "1"
FOLDER = Path(
    os.environ.get("GGML", Path(importlib.util.find_spec("pywhispercpp").origin).parents[1] / "pywhispercpp.libs")
)
LIBRARIES = [ctypes.CDLL(str(next(FOLDER.glob(f"lib{name}*")))) for name in ("gomp", "ggml-base", "ggml-cpu")][::-1]
NUMBERS = {"float32": 0, "float16": 1, "int32": 26, "int64": 27, "bfloat16": 30}
TYPES = {number: name for name, number in NUMBERS.items()}


class Params(ctypes.Structure):
    _fields_ = (("mem_size", ctypes.c_size_t), ("mem_buffer", ctypes.c_void_p), ("no_alloc", ctypes.c_bool))


def call(name, *arguments, to=ctypes.c_void_p):
    function = next(getattr(library, name) for library in LIBRARIES if hasattr(library, name))
    function.restype = to
    found = function(*(ctypes.c_float(a) if isinstance(a, float) else a for a in arguments))
    return ctypes.c_void_p(found) if to is ctypes.c_void_p else found


call("ggml_cpu_init", to=None)
CONTEXT = call("ggml_init", Params(2**26, None, False))


def ggml(name, *arguments):
    """The tensor that `ggml_name(context, ...)` makes; int64_t and size_t are given as ctypes has them."""
    return call(f"ggml_{name}", CONTEXT, *arguments)


def tensor(values, dtype="float32"):
    array = np.ascontiguousarray(values, dtype)
    sizes = [ctypes.c_int64(n) for n in (*reversed(array.shape), 1, 1, 1, 1)[:4]]
    made = ggml("new_tensor_4d", NUMBERS[dtype], *sizes)
    ctypes.memmove(call("ggml_get_data", made), array.ctypes.data, array.nbytes)
    return made


def view(parent, sizes, strides, offset=0):
    """A view of float32 with these sizes, and strides in elements; that of the last axis is 1."""
    (*outer, _), (*steps, _) = [(1,) * (4 - len(v)) + tuple(v) for v in (sizes, strides)]
    ne = [ctypes.c_int64(n) for n in (sizes[-1], *reversed(outer))]
    nb = [ctypes.c_size_t(4 * n) for n in reversed(steps)]
    return ggml("view_4d", parent, *ne, *nb, ctypes.c_size_t(4 * offset))


def dtype(y):
    return TYPES[ctypes.c_int32.from_address(y.value).value]


def read(y):
    """The values of a contiguous tensor, flat."""
    size = call("ggml_nelements", y, to=ctypes.c_int64)
    memory = ctypes.c_char * (size * np.dtype(dtype(y)).itemsize)
    return (
        np.frombuffer(memory.from_address(call("ggml_get_data", y).value or 0), dtype(y)).copy()
        if size
        else np.zeros(0)
    )


def computed(y):
    """The values of a node, with one thread."""
    graph = ggml("new_graph")
    call("ggml_build_forward_expand", graph, y, to=None)
    call("ggml_graph_compute_with_ctx", CONTEXT, graph, 1, to=ctypes.c_int)
    return read(y)


def gradients(y, cotangent, *inputs):
    """Of sum(y cotangent); None where ggml gives none. `inputs` have passed through `ggml_set_param` before."""
    loss = ggml("sum", ggml("mul", tensor(cotangent), y))
    call("ggml_set_loss", loss, to=None)
    graph = ggml("new_graph_custom", ctypes.c_size_t(256), True)
    call("ggml_build_forward_expand", graph, loss, to=None)
    call("ggml_build_backward_expand", CONTEXT, graph, None, to=None)
    call("ggml_graph_reset", graph, to=None)
    call("ggml_graph_compute_with_ctx", CONTEXT, graph, 1, to=ctypes.c_int)
    found = [call("ggml_graph_get_grad", graph, x) for x in inputs]
    return [read(g) if g else None for g in found]


def parameter(values):
    made = tensor(values)
    call("ggml_set_param", made, to=None)
    return made


def outcome(function):
    """What `function()` returns, as text, or the signal that its process dies of."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if not child:
        os.write(write_end, str(function()).encode())
        os._exit(0)
    os.close(write_end)
    _, status = os.waitpid(child, 0)
    return signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else os.read(read_end, 4096).decode()
