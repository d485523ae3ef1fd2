"""Gradients of norm at zeros, of its order inf, and of std of equal elements are NaN

Ledger: norm gradient, std gradient
Upstream: https://github.com/HIPS/autograd/issues/151
Expected:
    norm [0.0, 0.0]
    order inf [0.0, 1.0]
    std [0.0, 0.0]
"""

import autograd
import autograd.numpy as np

print("norm", autograd.grad(np.linalg.norm)(np.zeros(2)).tolist())
print("order inf", autograd.grad(lambda x: np.linalg.norm(x, np.inf))(np.array([1.0, 2.0])).tolist())
print("std", autograd.grad(np.std)(np.ones(2)).tolist())
