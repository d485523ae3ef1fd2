"""Patches around an infinity are NaN

conv_general_dilated_patches multiplies with an identity kernel: 0 times inf.

Ledger: im2col forward, im2col_3d forward, col2im forward
Upstream: https://github.com/jax-ml/jax/issues/9972
Expected: [[[1.0, inf], [inf, 2.0]]]
"""

import jax
import jax.numpy as jnp

x = jnp.array([[[1.0, jnp.inf, 2.0]]])
print(jax.lax.conv_general_dilated_patches(x, (2,), (1,), "VALID").tolist())
