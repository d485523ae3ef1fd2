"""Gradients of norm at a row of zeros, and of std at a constant row, are NaN

Ledger: norm gradient, std gradient
Expected:
    norm [0.0, 0.0]
    std [0.0, 0.0]
"""

import mlx.core as mx

mx.set_default_device(mx.cpu)
print("norm", mx.grad(mx.linalg.norm)(mx.zeros(2)).tolist())
print("std", mx.grad(mx.std)(mx.full((2,), 2.0)).tolist())
