"""The variance of float16 is summed up in float16: that of (-900, 900) is infinite, and standardize gives 0

eps = 1e-5 is a subnormal float16 besides, which XLA's CPU code takes for 0.

Ledger: batch_norm forward, batch_norm gradient, group_norm forward, group_norm gradient, instance_norm
    forward, instance_norm gradient, layer_norm forward, layer_norm gradient
Expected: [-1.0, 1.0]
"""

import jax
import jax.numpy as jnp

print(jax.nn.standardize(jnp.array([-900.0, 900.0], jnp.float16), algorithm="stable").tolist())
