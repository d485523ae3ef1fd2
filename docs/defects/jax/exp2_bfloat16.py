"""exp2 of bfloat16 is 37 % off at -100

It is exp(x ln 2), the product rounded to bfloat16. 2^-100 is a number of bfloat16.

Ledger: exp2 forward, exp2 gradient
Expected: 1.0
"""

import jax.numpy as jnp

print((jnp.exp2(jnp.bfloat16(-100)).astype(jnp.float32) * 2.0**100).item())
