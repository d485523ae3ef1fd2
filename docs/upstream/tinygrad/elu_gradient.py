"""Gradients of elu, celu and selu are NaN past 89, where both branches are differentiated: 0 times exp(100)

selu's constants have six digits too, 1.0507 and 1.67326.

Ledger: elu gradient, celu gradient, selu forward, selu gradient
Expected:
    elu 1
    celu 1
    selu 1.05070099
    selu(1) 1.05070099
"""

from tinygrad import Tensor
from tinygrad.helpers import DEV

DEV.value = "CPU"

for f in (Tensor.elu, Tensor.celu, Tensor.selu):
    x = Tensor([100.0])
    print(f.__name__, f"{f(x).sum().gradient(x)[0].item():.9g}")
print(f"selu(1) {Tensor([1.0]).selu().item():.9g}")
