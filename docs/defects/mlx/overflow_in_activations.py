"""Activations and their gradients overflow in a product, where the result is a number

gelu doubles x before it halves it, hardswish takes x times 6; gradients form g x, and gelu_approx's 3 x².

Ledger: gelu forward, gelu gradient, hardswish forward, silu gradient, gelu_quick gradient, mish gradient
Expected:
    gelu 2e+38
    hardswish 20000
    gradient of gelu 4
    gradient of gelu_approx 4
    gradient of silu 4
    gradient of gelu_fast_approx 4
    gradient of mish 4
"""

import mlx.core as mx
import mlx.nn as nn

mx.set_default_device(mx.cpu)
print(f"gelu {nn.gelu(mx.array(2e38)).item():g}")
print(f"hardswish {nn.hardswish(mx.array(20000.0, mx.float16)).item():g}")
for name in ("gelu", "gelu_approx", "silu", "gelu_fast_approx", "mish"):
    _, (gradient,) = mx.vjp(getattr(nn, name), [mx.array(3e38)], [mx.array(4.0)])
    print(f"gradient of {name} {gradient.item():g}")
