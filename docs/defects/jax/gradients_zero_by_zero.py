"""Gradients of norm at a row of zeros, and of std at a constant row, are NaN

Ledger: norm gradient, std gradient
Expected:
    norm [0.0, 0.0]
    std [0.0, 0.0]
"""

import jax
import jax.numpy as jnp

print("norm", jax.grad(jnp.linalg.norm)(jnp.zeros(2)).tolist())
print("std", jax.grad(jnp.std)(jnp.full(2, 2.0)).tolist())
