"""Gradients of float16 overflow or vanish in a factor, where the gradient is a number

Ledger: sinh gradient, cosh gradient, atan2 gradient, div gradient, pow gradient, prod gradient, cumprod
    gradient, reciprocal gradient, rsqrt gradient, softsign gradient
Expected:
    sinh 4.07e+04
    cosh 4.07e+04
    arctan2 0.552
    divide -0.001
    power 8e+03
    prod 1e+03
    cumprod 15
    reciprocal -0.0001
    rsqrt -447
    softsign 1.53e-05
"""

import mlx.core as mx
import mlx.nn as nn

mx.set_default_device(mx.cpu)
cases = [
    (mx.sinh, [12.0], 0, 0.5),
    (mx.cosh, [12.0], 0, 0.5),
    (mx.arctan2, [900.0, 800.0], 0, 1000.0),
    (mx.divide, [1000.0, 1000.0], 1, 1.0),
    (mx.power, [20.0, 5.0], 0, 0.01),
    (lambda *x: mx.prod(mx.stack(x)), [10.0, 500.0, 200.0], 0, 0.01),
    (lambda *x: mx.cumprod(mx.stack(x))[2], [100.0, 30.0, 50.0], 0, 0.01),
    (mx.reciprocal, [1000.0], 0, 100.0),
    (mx.rsqrt, [0.0005], 0, 0.01),
    (nn.softsign, [255.0], 0, 1.0),
]
names = "sinh cosh arctan2 divide power prod cumprod reciprocal rsqrt softsign".split()
for name, (f, x, of, g) in zip(names, cases, strict=True):
    _, gradients = mx.vjp(f, [mx.array(v, mx.float16) for v in x], [mx.array(g, mx.float16)])
    print(name, f"{gradients[of].item():.3g}")
