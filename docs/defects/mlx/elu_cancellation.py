"""elu takes exp(x) - 1 instead of expm1(x), and its gradient is NaN past 89

Both branches are differentiated: 0 times exp(100).

Ledger: elu forward, elu gradient, selu forward, selu gradient, celu forward
Expected: -1.00e-08 1.0
"""

import mlx.core as mx
import mlx.nn as nn

mx.set_default_device(mx.cpu)
value = nn.elu(mx.array([-1e-8])).item()
gradient = mx.grad(lambda x: nn.elu(x).sum())(mx.array([100.0])).item()
print(f"{value:.2e} {gradient}")
