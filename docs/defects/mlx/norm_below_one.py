"""The gradient of a norm of order 1/2 is NaN at an element that is 0

It is a power of 0, which is infinite, times the sign of 0; PyTorch gives 0, as it does for the order 1.

Ledger: norm gradient
Expected: [0.0, 2.0, 2.0]
"""

import mlx.core as mx

mx.set_default_device(mx.cpu)
print(mx.grad(lambda x: mx.linalg.norm(x, 0.5))(mx.array([0.0, 4.0, 4.0])).tolist())
