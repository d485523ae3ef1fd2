"""A row of attention whose keys are all masked gives the mean of the values

The mask is a large finite number. PyTorch gives NaN or 0 for such a row, never a mean of what is masked.

Ledger: scaled_dot_product_attention forward, scaled_dot_product_attention gradient
Expected: 0.0
"""

import jax
import jax.numpy as jnp

q, k = jnp.ones((1, 1, 1, 4)), jnp.ones((1, 3, 1, 4))
v = jnp.broadcast_to(jnp.array([1.0, 2.0, 3.0])[None, :, None, None], (1, 3, 1, 4))
print(jax.nn.dot_product_attention(q, k, v, mask=jnp.zeros((1, 1, 1, 3), bool))[0, 0, 0, 0].item())
