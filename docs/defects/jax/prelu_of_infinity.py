"""The gradient of a slope is NaN where x is infinite: 0 times infinity, of the branch that was not taken

Ledger: prelu gradient
Expected:
    0.0
"""

import jax
import jax.numpy as jnp
from jax import nn

print(jax.grad(nn.leaky_relu, argnums=1)(jnp.float32(jnp.inf), jnp.float32(0.25)).item())
