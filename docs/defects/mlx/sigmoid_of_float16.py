"""sigmoid takes exp(-x) in float16: 0 below -11.1, and silu and gelu_fast_approx with it

Ledger: silu forward, silu gradient, gelu_quick forward, gelu_quick gradient
Expected:
    sigmoid 1.24e-05
    silu -0.00014
    gelu_fast_approx -4.69e-05
    gradient of silu -0.000128
"""

import mlx.core as mx
import mlx.nn as nn

mx.set_default_device(mx.cpu)
x, y = mx.array(-11.3, mx.float16), mx.array(-7.0, mx.float16)
print(f"sigmoid {mx.sigmoid(x).item():.3g}")
print(f"silu {nn.silu(x).item():.3g}")
print(f"gelu_fast_approx {nn.gelu_fast_approx(y).item():.3g}")
print(f"gradient of silu {mx.grad(nn.silu)(x).item():.3g}")
