"""Infinities: prelu with an infinite weight is NaN at positive x; the gradient of leaky_relu at -inf is 1

They are max(0, x) + weight min(0, x), and max(slope x, x), which ties at -inf.

Ledger: prelu forward, leaky_relu gradient
Expected:
    prelu 2.0
    leaky_relu 0.01
"""

import mlx.core as mx
import mlx.nn as nn

mx.set_default_device(mx.cpu)
print("prelu", nn.prelu(mx.array(2.0), mx.array(float("inf"))).item())
print("leaky_relu", round(mx.grad(nn.leaky_relu)(mx.array(float("-inf"))).item(), 2))
