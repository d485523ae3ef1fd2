"""Gradients of smooth_l1_loss with beta 0 are NaN, and binary_cross_entropy of an infinite logit is

Ledger: smooth_l1_loss gradient
Expected: 1.0 0.0
"""

import mlx.core as mx
import mlx.nn as nn

mx.set_default_device(mx.cpu)
zero, one = mx.array([0.0]), mx.array([1.0])
gradient = mx.grad(lambda x: nn.losses.smooth_l1_loss(x, zero, beta=0.0, reduction="sum"))(one).item()
loss = nn.losses.binary_cross_entropy(mx.array([float("inf")]), one, reduction="sum").item()
print(gradient, loss)
