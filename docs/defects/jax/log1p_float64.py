"""log1p of float64 is off by many units in the last place

XLA's polynomial. The value is that of C's log1p, within half a unit.

Ledger: log1p forward
Upstream: https://github.com/jax-ml/jax/issues/39707
Expected: True
"""

import math

import jax
import jax.numpy as jnp

with jax.enable_x64(True):
    got = jnp.log1p(jnp.float64(-0.4142)).item()
print(abs(got / math.log1p(-0.4142) - 1) < 1e-15)
