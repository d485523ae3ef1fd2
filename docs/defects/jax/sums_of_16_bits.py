"""Thousands of terms for one place are added up in float16 and bfloat16, which stop growing

Scatters, and the gradients of gathers, convert to no wider dtype: 4,099 ones are 2,048 in float16, 256 in bfloat16.

Upstream: https://github.com/jax-ml/jax/issues/39949
Ledger: add_id gradient, embedding gradient, gather gradient, index_add forward, index_select gradient,
    mul_mat_id gradient, scatter_add forward, take_along_dim gradient
Expected:
    scatter, float16 4100
    scatter, bfloat16 4096
    gradient of a gather, float16 4100
    gradient of take_along_axis, bfloat16 4096
"""

import jax
import jax.numpy as jnp

index = jnp.zeros(4099, dtype=int)


def scattered(dtype):
    return jnp.zeros(1, dtype).at[index].add(jnp.ones(4099, dtype)).item()


print(f"scatter, float16 {scattered(jnp.float16):.0f}")
print(f"scatter, bfloat16 {scattered(jnp.bfloat16):.0f}")
print(f"gradient of a gather, float16 {jax.grad(lambda w: w[index].sum())(jnp.ones(1, jnp.float16)).item():.0f}")
gradient = jax.grad(lambda w: jnp.take_along_axis(w, index, 0).sum())(jnp.ones(1, jnp.bfloat16))
print(f"gradient of take_along_axis, bfloat16 {gradient.item():.0f}")
