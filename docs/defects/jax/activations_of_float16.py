"""Activations of float16 and their gradients overflow in a factor, where the result is a number

sigmoid is 1 / (1 + exp(-x)), gelu holds x³, softsign (1 + |x|)², division b^-2, cumprod its products.

Ledger: silu forward, silu gradient, gelu gradient, softsign gradient, div gradient,
    cumprod forward
Expected:
    silu -0.00014
    gradient of silu -0.000128
    gradient of gelu 1
    gradient of softsign 1.53e-05
    gradient of divide -0.000244
    cumprod 0.000335
"""

import jax
import jax.numpy as jnp
from jax import nn


def gradient(f, x):
    return jax.grad(f)(jnp.float16(x)).item()


print(f"silu {nn.silu(jnp.float16(-11.3)).item():.3g}")
print(f"gradient of silu {gradient(nn.silu, -11.3):.3g}")
print(f"gradient of gelu {gradient(nn.gelu, 300.0):.3g}")
print(f"gradient of softsign {gradient(nn.soft_sign, 255.0):.3g}")
print(f"gradient of divide {gradient(lambda b: jnp.float16(10000) / b, 6400.0):.3g}")
products = jnp.cumprod(jnp.array([0.0013, 0.0013, 0.198, 1000.0], jnp.float16))
print(f"cumprod {products[-1].item():.3g}")
