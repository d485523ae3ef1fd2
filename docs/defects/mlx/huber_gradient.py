"""The gradient of huber_loss cancels: 0.017 % off at 1e-4

|d| - min(|d|, delta) is not exact.

Ledger: huber_loss gradient
Expected: 1.0000e-04
"""

import mlx.core as mx
import mlx.nn as nn

mx.set_default_device(mx.cpu)
target = mx.array([0.0])
gradient = mx.grad(lambda x: nn.losses.huber_loss(x, target, reduction="sum"))(mx.array([1e-4])).item()
print(f"{gradient:.4e}")
