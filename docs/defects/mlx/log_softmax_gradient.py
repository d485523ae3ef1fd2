"""The gradient of log_softmax in float16 is infinite where the cotangents add up to more than 65,504

Ledger: log_softmax gradient
Expected:
    [10000.0, -10000.0]
"""

import mlx.core as mx
import mlx.nn as nn

mx.set_default_device(mx.cpu)
x, g = mx.zeros((2,), mx.float16), mx.array([60000.0, 40000.0], mx.float16)
_, (gradient,) = mx.vjp(lambda x: nn.log_softmax(x, -1), [x], [g])
print(gradient.tolist())
