"""Gradients of float16 overflow or vanish in a factor, where the gradient is a number

The factors (cosh x, x² + y², b², x², a power, 1 / x before it is divided by log 2) are rounded to float16.

Ledger: atan2 gradient, cosh gradient, sinh gradient, div gradient, pow gradient, reciprocal gradient, log2
    gradient
Expected:
    sinh 4.07e+04
    cosh 4.07e+04
    arctan2 0.552
    divide -0.001
    power 8e+03
    reciprocal -0.0001
    log2 1.44e-06
"""

import autograd
import autograd.numpy as np

half = np.float16
cases = {
    "sinh": (np.sinh, [12.0], 0, 0.5),
    "cosh": (np.cosh, [12.0], 0, 0.5),
    "arctan2": (np.arctan2, [900.0, 800.0], 0, 1000.0),
    "divide": (np.divide, [1000.0, 1000.0], 1, 1.0),
    "power": (np.power, [20.0, 5.0], 0, 0.01),
    "reciprocal": (np.reciprocal, [1000.0], 0, 100.0),
    "log2": (np.log2, [1000.0], 0, 0.001),
}
with np.errstate(all="ignore"):
    for name, (f, x, of, g) in cases.items():
        back, _ = autograd.make_vjp(f, of)(*(half(v) for v in x))
        print(name, f"{back(half(g)):.3g}")
