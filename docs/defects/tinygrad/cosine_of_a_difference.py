"""cos(x) is sin(π / 2 - x), and the difference rounds: 1.5e-4 off at 1e4, 100 % in float16

tan and the gradients of sin, cos and tan hold a cosine.

Ledger: cos gradient, tan forward, tan gradient, sin gradient
Upstream: https://github.com/tinygrad/tinygrad/pull/17885
Expected:
    tan(10000) 0.32097
    tan'(10000) 1.10302
    cos'(1e-4) -1.0000e-04
    sin'(100) in float16 0.862
"""

from tinygrad import Tensor, dtypes
from tinygrad.helpers import DEV

DEV.value = "CPU"


def slope(f, at, dtype=dtypes.float):
    x = Tensor([at], dtype=dtype)
    return f(x).sum().gradient(x)[0].numpy().item()


print(f"tan(10000) {Tensor([10000.0]).tan().item():.5f}")
print(f"tan'(10000) {slope(Tensor.tan, 10000.0):.5f}")
print(f"cos'(1e-4) {slope(Tensor.cos, 1e-4):.4e}")
print(f"sin'(100) in float16 {slope(Tensor.sin, 100.0, dtypes.half):.3f}")
