"""In float16 an intermediate overflows or is subnormal, where the result is neither

The exponential of a sigmoid, exp(x) of cosh, squares of a variance, products of a gradient.

Ledger: silu forward, silu gradient, gelu_quick forward, gelu_quick gradient, cosh forward, layer_norm
    forward, layer_norm gradient, instance_norm forward, instance_norm gradient, batch_norm forward,
    batch_norm gradient, prod gradient, cumprod gradient, pow gradient, l2_norm gradient, l2_norm
    forward
Expected:
    silu(-12) -7.37e-05
    quick_gelu(-7) -4.68e-05
    cosh(11.5) 4.94e+04
    layernorm(-900, 900) [-1.0, 1.0]
    prod' 15
    pow' 8e+03
    normalize(300, 0) [1.0, 0.0]
"""

from tinygrad import Tensor, dtypes
from tinygrad.helpers import DEV

DEV.value = "CPU"


def half(*values):
    return Tensor(list(values), dtype=dtypes.half).realize()


print(f"silu(-12) {half(-12.0).silu().numpy().item():.3g}")
print(f"quick_gelu(-7) {half(-7.0).quick_gelu().numpy().item():.3g}")
print(f"cosh(11.5) {half(11.5).cosh().numpy().item():.3g}")
print("layernorm(-900, 900)", half(-900.0, 900.0).layernorm().numpy().tolist())
x, base = half([100.0, 30.0, 50.0], [100.0, 30.0, 50.0]), half(20.0)
print(f"prod' {x.prod(-1).gradient(x, gradient=half(0.01, 0.01))[0].numpy()[0, 0]:.3g}")
print(f"pow' {base.pow(half(5.0)).gradient(base, gradient=half(0.01))[0].numpy().item():.3g}")
print("normalize(300, 0)", half(300.0, 0.0).normalize(dim=0).numpy().tolist())
