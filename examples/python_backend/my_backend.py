"""A backend in Python: three operators in plain NumPy, one of them with a bug that tests with all-ones gradients miss.

opproof run -b ./my_backend.py
"""

import numpy as np

from opproof.backends import Unsupported

name, version = "my_backend", "0.1"


def softmax(x, *, dim):
    e = np.exp(x - x.max(axis=dim, keepdims=True))
    return e / e.sum(axis=dim, keepdims=True)


def softmax_vjp(g, x, *, dim):
    y = softmax(x, dim=dim)
    return y * (g - (g * y).sum(axis=dim, keepdims=True))


def relu(x):
    return np.maximum(x, 0)


def relu_vjp(g, x):
    return np.where(x > 0, g, 0)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def sigmoid_vjp(g, x):
    return g * np.exp(-x) * sigmoid(x) ** 2  # inf * 0 where x is below -89: the bug of candle issue 2114


OPS = {"softmax": (softmax, softmax_vjp), "relu": (relu, relu_vjp), "sigmoid": (sigmoid, sigmoid_vjp)}


def supports(op, dtypes, params):
    if op not in OPS:
        return f"{op} is not written yet"
    return True if dtypes == ["f32"] else "f32 only"


def forward(op, inputs, params):
    if op not in OPS:
        raise Unsupported(op)
    with np.errstate(all="ignore"):
        return OPS[op][0](*inputs, **params)


def vjp(op, inputs, params, cotangents, needs):
    with np.errstate(all="ignore"):
        return [OPS[op][1](*cotangents, *inputs, **params).astype(inputs[0].dtype)]
