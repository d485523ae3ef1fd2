"""The gradient of celu at 0 is 0, that of PReLU more than either side's

maximum and minimum both give none of it, or all. celu has slope 1 on both sides; PReLU 1 and 0.25.

Ledger: celu gradient, prelu gradient
Expected:
    celu 1.0
    PReLU 1.0
"""

import mlx.core as mx
import mlx.nn as nn

mx.set_default_device(mx.cpu)
print("celu", mx.grad(lambda x: nn.celu(x).sum())(mx.array([0.0])).item())
print("PReLU", mx.grad(lambda x: nn.PReLU(init=0.25)(x).sum())(mx.array([0.0])).item())
