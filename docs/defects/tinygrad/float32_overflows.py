"""An intermediate overflows in float32 where the result does not

exp(x) of cosh and sinh', 2 x of gelu, powers and products of a gradient.

Ledger: cosh forward, cosh gradient, sinh gradient, gelu forward, rsqrt gradient, softsign gradient
Expected:
    cosh(89) 2.24e+38
    sinh'(89) 2.24e+38
    gelu(2e38) 2e+38
    rsqrt'(2e-26) -1.77e+38
    2.5 softsign'(2e38) 0
"""

from tinygrad import Tensor
from tinygrad.helpers import DEV

DEV.value = "CPU"


def slope(f, at):
    x = Tensor([at])
    return f(x).sum().gradient(x)[0].item()


print(f"cosh(89) {Tensor([89.0]).cosh().item():.3g}")
print(f"sinh'(89) {slope(Tensor.sinh, 89.0):.3g}")
print(f"gelu(2e38) {Tensor([2e38]).gelu('none').item():.3g}")
print(f"rsqrt'(2e-26) {slope(Tensor.rsqrt, 2e-26):.3g}")
x = Tensor([2e38])
print(f"2.5 softsign'(2e38) {x.softsign().gradient(x, gradient=Tensor([2.5]).realize())[0].item():.3g}")
