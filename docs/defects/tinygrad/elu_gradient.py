"""Gradients of elu, celu and selu are NaN past 89, where both branches are differentiated: 0 times exp(100)

Ledger: elu gradient, celu gradient, selu gradient
Upstream: https://github.com/tinygrad/tinygrad/pull/17852
Expected:
    elu 1
    celu 1
    selu 1.05070099
"""

from tinygrad import Tensor
from tinygrad.helpers import DEV

DEV.value = "CPU"

for f in (Tensor.elu, Tensor.celu, Tensor.selu):
    x = Tensor([100.0])
    print(f.__name__, f"{f(x).sum().gradient(x)[0].item():.9g}")
