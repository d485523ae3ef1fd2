"""The gradient of softmax in float16 is wrong for rows whose exponentials add up to 256 and more

It divides by the square of that sum, which is infinite in float16 from 256 on, so that sum(g y) is never taken off:
256 equal scores are enough. With jax_softmax_custom_jvp, which is off by default, it is right.

Ledger: softmax gradient
Expected:
    255 scores 0.0000
    256 scores 0.0000
"""

import jax
import jax.numpy as jnp
from jax import nn

for n in (255, 256):
    _, vjp = jax.vjp(nn.softmax, jnp.zeros(n, jnp.float16))
    print(f"{n} scores {vjp(jnp.ones(n, jnp.float16))[0][0].item():.4f}")
