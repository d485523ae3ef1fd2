"""Attention in float16 raises under jit on a CPU

It asks for F16_F16_F32 products and falls back by try / except, which sees nothing under jit.

Ledger: scaled_dot_product_attention forward
Expected:
    eager (2, 4, 2, 17)
    jit (2, 4, 2, 17)
"""

import jax
import jax.numpy as jnp

x = jnp.ones((2, 4, 2, 17), jnp.float16)
print("eager", jax.nn.dot_product_attention(x, x, x).shape)
print("jit", jax.jit(jax.nn.dot_product_attention)(x, x, x).shape)
