"""asin and erf are polynomial fits for absolute error, so small arguments lose digits

acos, atan, gelu and their gradients are made of them; atan(x) is asin(x / sqrt(1 + x²)), whose square overflows.
Each line is a ratio to the leading term near 0, or to the value.

Ledger: asin forward, asin gradient, acos forward, acos gradient, atan forward, atan gradient, erf forward,
    erf gradient, gelu forward, gelu gradient
Expected:
    asin(1e-4) / 1e-4 1.0000
    erf(1e-4) / 1e-4 1.1284
    atan(1e20) 1.5708
    acos(0.5) 1.0471975512
    asin'(0.5) 1.1547005384
    acos'(0.5) -1.1547005384
    erf'(0.3) 1.031260909
    gelu'(0.3) 0.732327899
    gelu(0.3) 0.185373427
    atan'(1e4) 1e-08
"""

from tinygrad import Tensor, dtypes
from tinygrad.helpers import DEV

DEV.value = "CPU"


def slope(f, at, dtype=dtypes.float64):
    x = Tensor([at], dtype=dtype)
    return f(x).sum().gradient(x)[0].item()


print(f"asin(1e-4) / 1e-4 {Tensor([1e-4]).asin().item() / 1e-4:.4f}")
print(f"erf(1e-4) / 1e-4 {Tensor([1e-4]).erf().item() / 1e-4:.4f}")
print(f"atan(1e20) {Tensor([1e20]).atan().item():.4f}")
print(f"acos(0.5) {Tensor([0.5], dtype=dtypes.float64).acos().item():.10f}")
print(f"asin'(0.5) {slope(Tensor.asin, 0.5):.10f}")
print(f"acos'(0.5) {slope(Tensor.acos, 0.5):.10f}")
print(f"erf'(0.3) {slope(Tensor.erf, 0.3):.9f}")
print(f"gelu'(0.3) {slope(lambda x: x.gelu('none'), 0.3):.9f}")
print(f"gelu(0.3) {Tensor([0.3], dtype=dtypes.float64).gelu('none').item():.9f}")
print(f"atan'(1e4) {slope(Tensor.atan, 1e4, dtypes.float32):.3g}")
