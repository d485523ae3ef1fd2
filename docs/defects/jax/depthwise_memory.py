"""The gradient of a convolution of as many groups as channels allocates the square of their number

Ledger: conv2d_depthwise gradient
Expected:
    1024 channels: under 1 MiB
    16384 channels: under 1 MiB
"""

import jax
import jax.numpy as jnp
from jax import lax


def convolved(weight, x):
    return lax.conv_general_dilated(x, weight, (1, 1), "VALID", feature_group_count=x.shape[1]).sum()


for n in (1024, 16384):
    weight, x = jnp.ones((n, 1, 2, 1), jnp.float32), jnp.ones((1, n, 2, 1), jnp.float32)
    compiled = jax.jit(jax.grad(convolved)).lower(weight, x).compile()
    taken = compiled.memory_analysis().temp_size_in_bytes / 2**20
    print(f"{n} channels: {f'{taken:.0f} MiB' if taken >= 1 else 'under 1 MiB'}")
