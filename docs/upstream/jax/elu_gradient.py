"""Gradients of elu and selu are expm1(x) + 1, which cancels: 3 % off at -15

Ledger: elu gradient, selu gradient
Upstream: https://github.com/jax-ml/jax/issues/39795
Expected: 3.059e-07
"""

import jax
import jax.numpy as jnp

print(f"{jax.grad(jax.nn.elu)(jnp.float32(-15.0)).item():.3e}")
