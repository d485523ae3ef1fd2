"""Gradients are NaN where a root is taken of 0: std of equal elements, normalize of zeros

Ledger: std gradient, l2_norm gradient
Expected:
    std [0.0, 0.0]
    normalize [1000000.0, 1000000.0]
"""

from tinygrad import Tensor
from tinygrad.helpers import DEV

DEV.value = "CPU"

x, y = Tensor([2.0, 2.0]), Tensor([0.0, 0.0])
print("std", x.std().gradient(x)[0].tolist())
print("normalize", y.normalize(dim=0, eps=1e-6).sum().gradient(y)[0].tolist())
