"""The gradient of a norm of order 1/2 is infinite at an element that is 0

Its slope there is a power of 0; PyTorch gives 0, as it does for the order 1.

Ledger: norm gradient
Expected: [0.0, 2.0, 2.0]
"""

import jax
import jax.numpy as jnp

print(jax.grad(lambda x: jnp.linalg.norm(x, 0.5))(jnp.array([0.0, 4.0, 4.0])).tolist())
