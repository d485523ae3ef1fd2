"""Three operators: relu is right, neg is wrong in both modes, tan is declined. Given to -b as a file."""

import numpy as np

version, device = "7", "test bench"


def supports(op, dtypes, params):
    return op in ("relu", "neg") or f"no {op} on this device"


def forward(op, inputs, params):
    (x,) = inputs
    return np.maximum(x, x.dtype.type(0)) if op == "relu" else x


def vjp(op, inputs, params, cotangents, needs):
    (x,), (g,) = inputs, cotangents
    return [np.where(x > 0, g, g.dtype.type(0)) if op == "relu" else g]
