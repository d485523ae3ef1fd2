"""reduce_window adds up in float16 and bfloat16, and so do its gradients: windows overflow, or stop growing

Ledger: avg_pool1d forward, avg_pool1d gradient, avg_pool2d forward, avg_pool2d gradient
Expected:
    mean of nine 24000 24000
    gradient of a mean of 1031 1
"""

import jax
import jax.numpy as jnp
from jax import lax


def mean(x, size):
    return lax.reduce_window(x, jnp.zeros((), x.dtype), lax.add, (size,), (1,), "VALID") / size


print(f"mean of nine 24000 {mean(jnp.full(9, 24000, jnp.float16), 9).item():.0f}")
gradient = jax.grad(lambda x: mean(x, 1031).sum())(jnp.ones(2062, jnp.bfloat16))
print(f"gradient of a mean of 1031 {gradient[1031].item():.3g}")
