"""exp(x) - 1, log(1 + exp(x)) and differences of exponentials lose all digits of small results

elu, celu, sinh, tanh, softplus, logsigmoid and mish, and gradients made of them, are so written.

Ledger: elu forward, celu forward, sinh forward, tanh forward, cosh gradient, softplus forward, logsigmoid
    forward, mish forward, mish gradient
Expected:
    elu(-1e-8) -1e-08
    celu(-1e-8) -1e-08
    sinh(1e-8) 1e-08
    tanh(1e-8) 1e-08
    softplus(-20) 2.06e-09
    logsigmoid(20) -2.06e-09
    mish(-20) -4.12e-08
    cosh'(1e-8) 1e-08
    mish'(-20) -3.92e-08
"""

from tinygrad import Tensor
from tinygrad.helpers import DEV

DEV.value = "CPU"


def slope(f, at):
    x = Tensor([at])
    return f(x).sum().gradient(x)[0].item()


for name, at in (("elu", -1e-8), ("celu", -1e-8), ("sinh", 1e-8), ("tanh", 1e-8), ("softplus", -20.0),
                 ("logsigmoid", 20.0), ("mish", -20.0)):  # fmt: skip
    print(f"{name}({at:g}) {getattr(Tensor([at]), name)().item():.3g}".replace("e-08)", "e-8)"))
print(f"cosh'(1e-8) {slope(Tensor.cosh, 1e-8):.3g}")
print(f"mish'(-20) {slope(Tensor.mish, -20.0):.3g}")
