"""Values of float16 pass through subnormal factors, which have few digits

cumprod keeps its products, mish e^x.

Ledger: cumprod forward, mish gradient
Expected:
    cumprod 0.000335
    mish -0.000106
"""

import mlx.core as mx
import mlx.nn as nn

mx.set_default_device(mx.cpu)
x = mx.array([0.02] * 4 + [6.76] * 4, mx.float16)
print(f"cumprod {mx.cumprod(x)[-1].item():.3g}")
print(f"mish {nn.mish(mx.array(-11.6, mx.float16)).item():.3g}")
