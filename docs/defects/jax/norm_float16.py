"""The norm of (300, 4) is infinite in float16

The sum of squares is rounded to float16 before its root is taken.

Ledger: norm forward
Upstream: https://github.com/jax-ml/jax/issues/39899
Expected: 300
"""

import jax.numpy as jnp

print(f"{jnp.linalg.norm(jnp.array([300, 4], jnp.float16)).item():.3g}")
