"""cosh and sinh of float64 lose nine bits where they are large: the exponent has the logarithm of 2 taken off first

Ledger: cosh forward, sinh forward
Expected:
    cosh(709) off by 0
    sinh(709) off by 0
"""

import math

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)
for ours, right in ((jnp.cosh, math.cosh), (jnp.sinh, math.sinh)):
    off = abs(ours(709.0).item() / right(709.0) - 1) * 2**53
    print(f"{right.__name__}(709) off by {off:.0f}" if off > 4 else f"{right.__name__}(709) off by 0")
