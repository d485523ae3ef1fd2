"""Gradients far out are NaN or infinite, 0 times infinity, where their limit is a number

Ledger: silu gradient, gelu_quick gradient, mish gradient, gelu gradient, erf gradient, softplus
    gradient, logsigmoid gradient
Expected:
    silu'(-inf) 0.0
    quick_gelu'(-inf) 0.0
    mish'(-inf) 0.0
    gelu'(inf) 1.0
    erf'(inf) 0.0
    softplus'(inf) 1.0
    logsigmoid'(-inf) 1.0
"""

from tinygrad import Tensor
from tinygrad.helpers import DEV

DEV.value = "CPU"

for name, at in (("silu", "-inf"), ("quick_gelu", "-inf"), ("mish", "-inf"), ("gelu", "inf"), ("erf", "inf"),
                 ("softplus", "inf"), ("logsigmoid", "-inf")):  # fmt: skip
    x = Tensor([float(at)])
    print(f"{name}'({at})", getattr(x, name)().sum().gradient(x)[0].item())
