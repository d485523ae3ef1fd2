"""The gradient of abs at a small negative number is 1: XLA's CPU code takes subnormal numbers for zeros

Ledger: abs gradient
Expected: -1.0
"""

import jax
import jax.numpy as jnp

print(jax.grad(jnp.abs)(jnp.float32(-1e-40)).item())
