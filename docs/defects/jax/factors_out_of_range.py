"""Gradients overflow, or are zero, in a factor that does not depend on the cotangent, where the result is a number

1 + tan(x)^2, x^-2 and sinh(x) are infinite in float16, and x^-1.5 is flushed in float32, before the cotangent comes.

Ledger: cosh gradient, mish gradient, reciprocal gradient, rsqrt gradient, sinh gradient, tan gradient
Expected:
    tan 427
    reciprocal -111
    rsqrt -9.62
    cosh 7.36e+03
    rsqrt, float32 -1.75e-38
    mish of infinity 1
"""

import jax
import jax.numpy as jnp
from jax import lax, nn


def gradient(f, x, cotangent, dtype=jnp.float16):
    _, vjp = jax.vjp(f, dtype(x))
    return vjp(dtype(cotangent))[0].item()


print(f"tan {gradient(jnp.tan, 1.5703, 1e-4):.3g}")
print(f"reciprocal {gradient(jnp.reciprocal, 0.003, 1e-3):.3g}")
print(f"rsqrt {gradient(lax.rsqrt, 0.0003, 1e-4):.3g}")
print(f"cosh {gradient(jnp.cosh, 11.9, 0.1):.3g}")
print(f"rsqrt, float32 {gradient(lax.rsqrt, 1.3e25, 1.64, jnp.float32):.3g}")
print(f"mish of infinity {gradient(nn.mish, jnp.inf, 1.0):.3g}")
