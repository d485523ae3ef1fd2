"""oneDNN through ctypes: what the programs of this page begin with.

It takes libdnnl.so of the wheel onednn-cpu-gomp. Arrays are NumPy's, handed over with their strides; an output that no
primitive writes keeps the 7s that it was filled with.
"""

import ctypes
from importlib.metadata import files

import numpy as np

(PATH,) = [file.locate() for file in files("onednn-cpu-gomp") if file.name == "libdnnl.so"]
DNNL = ctypes.CDLL(str(PATH))
TYPES = {"float16": 1, "float32": 3, "uint8": 6}
TRAINING, ZERO = 64, ctypes.c_float(0)
ELTWISE = (
    "relu tanh elu square abs sqrt linear soft_relu hardsigmoid logistic exp gelu_tanh swish log clip clip_v2 pow "
    "gelu_erf round mish hardswish"
).split()
BINARY = "add mul max min div sub ge gt le lt eq ne".split()


def made(function, *arguments):
    """What a function of the C interface puts into its first argument."""
    handle = ctypes.c_void_p()
    status = getattr(DNNL, f"dnnl_{function}")(ctypes.byref(handle), *arguments)
    if status:
        raise RuntimeError(f"dnnl_{function} returned {status}")
    return handle


def numbers(values):
    return (ctypes.c_int64 * len(values))(*values)


ENGINE = made("engine_create", 1, ctypes.c_size_t(0))
STREAM = made("stream_create", ENGINE, 1)


def described(array):
    steps = [s // array.itemsize for s in array.strides]
    return made(
        "memory_desc_create_with_strides", array.ndim, numbers(array.shape), TYPES[array.dtype.name], numbers(steps)
    )


class Argument(ctypes.Structure):
    _fields_ = (("number", ctypes.c_int), ("memory", ctypes.c_void_p))


def execute(description, arrays):
    """Runs a primitive on arrays by the numbers of DNNL_ARG_..."""
    memories = {
        k: made("memory_create", described(a), ENGINE, ctypes.c_void_p(a.ctypes.data)) for k, a in arrays.items()
    }
    listed = (Argument * len(arrays))(*(Argument(k, m) for k, m in memories.items()))
    primitive = made("primitive_create", description)
    status = DNNL.dnnl_primitive_execute(primitive, STREAM, len(arrays), listed) or DNNL.dnnl_stream_wait(STREAM)
    if status:
        raise RuntimeError(f"dnnl_primitive_execute returned {status}")


def f32(values):
    return np.array(values, np.float32)


def full(shape, dtype=np.float32):
    return np.full(shape, 7, dtype)


def eltwise(name, x, alpha=0.0, beta=0.0, gradient=None):
    """The function of x, or where `gradient` (of y) is given the gradient of x."""
    x, y = f32(x), full(np.shape(x))
    numbers_of = (0x20 + ELTWISE.index(name), described(x), described(y))
    how = (ctypes.c_float(alpha), ctypes.c_float(beta))
    forward = made("eltwise_forward_primitive_desc_create", ENGINE, TRAINING, *numbers_of, *how, None)
    if gradient is None:
        execute(forward, {1: x, 17: y})
        return y
    g = f32(gradient)
    tensors = (described(y), described(g), described(x))
    execute(
        made("eltwise_backward_primitive_desc_create", ENGINE, numbers_of[0], *tensors, *how, forward, None),
        {1: x, 129: y, 145: g},
    )
    return y


def binary(name, a, b, dtype=np.float32):
    y = full(a.shape, dtype)
    tensors = [described(t) for t in (a, b, y)]
    execute(
        made("binary_primitive_desc_create", ENGINE, 0x1FFF0 + BINARY.index(name), *tensors, None), {1: a, 2: b, 17: y}
    )
    return y


def reduction(name, x):
    """Over the last axis."""
    x = f32(x)
    y, number = full((*x.shape[:-1], 1)), {"max": 0x2FFF2, "min": 0x2FFF3}[name]
    execute(
        made("reduction_primitive_desc_create", ENGINE, number, described(x), described(y), ZERO, ZERO, None),
        {1: x, 17: y},
    )
    return y[..., 0]


def softmax(x, *, logarithm=False):
    x, y = f32(x), full(np.shape(x))
    how = (TRAINING, 0x30000 + logarithm, described(x), described(y), x.ndim - 1, None)
    execute(made("softmax_forward_primitive_desc_create", ENGINE, *how), {1: x, 17: y})
    return y


def matmul(a, b):
    y = full((a.shape[0], b.shape[1]))
    tensors = (described(a), described(b), None, described(y))
    execute(made("matmul_primitive_desc_create", ENGINE, *tensors, None), {1: a, 33: b, 17: y})
    return y


def layer_norm(x):
    y = full(x.shape)
    how = (96, described(x), described(y), None, ctypes.c_float(1e-5), 0, None)
    execute(made("layer_normalization_forward_primitive_desc_create", ENGINE, *how), {1: x, 17: y})
    return y


def prelu(x, weight):
    y = full(x.shape)
    how = (TRAINING, described(x), described(weight), described(y), None)
    execute(made("prelu_forward_primitive_desc_create", ENGINE, *how), {1: x, 33: weight, 17: y})
    return y


def prelu_gradients(x, weight, gradient, of_weight):
    """Those of x; those of the weights are written to `of_weight`."""
    y = full(x.shape)
    forward = made(
        "prelu_forward_primitive_desc_create",
        ENGINE,
        TRAINING,
        *(described(t) for t in (x, weight, y)),
        None,
    )
    tensors = [described(t) for t in (x, weight, y, of_weight, gradient)]
    execute(
        made("prelu_backward_primitive_desc_create", ENGINE, *tensors, forward, None),
        {1: x, 33: weight, 129: y, 161: of_weight, 145: gradient},
    )
    return y


def max_pool(x, size):
    x = f32(x)
    y = full((*x.shape[:2], x.shape[2] - size + 1))
    window = [numbers([n]) for n in (1, size, 0, 0, 0)]
    how = (96, 0x1FF, described(x), described(y), *window, None)
    execute(made("pooling_forward_primitive_desc_create", ENGINE, *how), {1: x, 17: y})
    return y
