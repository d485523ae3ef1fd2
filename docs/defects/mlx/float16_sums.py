"""Sums of float16 are kept in float16, where a mean that fits overflows

Pooling and the losses take means of the same kind.

Ledger: mean forward, avg_pool1d forward, avg_pool2d forward, avg_pool3d forward, huber_loss forward, l1_loss
    forward, smooth_l1_loss forward
Expected:
    mean 60000.0
    AvgPool1d 60000.0
    l1_loss 60000.0
"""

import mlx.core as mx
import mlx.nn as nn

mx.set_default_device(mx.cpu)
x = mx.array([60000.0] * 3, mx.float16)
print("mean", mx.mean(x).item())
print("AvgPool1d", nn.AvgPool1d(3)(x.reshape(1, 3, 1)).item())
print("l1_loss", nn.losses.l1_loss(x, mx.zeros_like(x), reduction="mean").item())
