"""Under jit a / b is a times a rounded reciprocal where b is broadcast: quotients are on the other side of a half

Ledger: quantize_linear forward
Expected:
    0 of 131072 differ
"""

import jax
import jax.numpy as jnp
import numpy as np

drawn = np.random.default_rng(0)
scale = drawn.uniform(0.01, 1, (1, 65536)).astype(np.float32)
x = ((drawn.integers(0, 200, (2, 65536)) + 0.5) * scale).astype(np.float32)
quotients = jax.jit(lambda x, scale: jnp.round(x / scale))(x, scale)
print(f"{int((np.asarray(quotients) != np.round(x / scale)).sum())} of {x.size} differ")
