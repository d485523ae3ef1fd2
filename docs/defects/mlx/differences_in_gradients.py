"""Gradients that are differences lose their digits

binary_cross_entropy has 1 - 1 / (1 + e^x), logaddexp gives the smaller input 1 minus a share.

Ledger: bce_with_logits gradient, logaddexp gradient, logcumsumexp gradient
Expected:
    binary_cross_entropy 3.059e-07
    logaddexp 2.061e-09
"""

import mlx.core as mx
import mlx.nn as nn

mx.set_default_device(mx.cpu)
zero = mx.array([0.0])
loss = lambda x: nn.losses.binary_cross_entropy(x, zero, reduction="sum")
print(f"binary_cross_entropy {mx.grad(loss)(mx.array([-15.0])).item():.3e}")
print(f"logaddexp {mx.grad(mx.logaddexp, argnums=1)(mx.array(0.0), mx.array(-20.0)).item():.3e}")
