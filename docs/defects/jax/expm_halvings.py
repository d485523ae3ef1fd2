"""expm of float64 loses digits where the norm is from 7 to 10.7

A matrix is halved until its norm is at most 5.37, for which its rational function is exact. The number of halvings is
rounded down: a norm of 10.7 is not halved.

Ledger: matrix_exp forward, matrix_exp gradient
Expected: True
"""

import jax

jax.config.update("jax_enable_x64", True)

whole = jax.scipy.linalg.expm(jax.numpy.full((1, 1), -10.7))
half = jax.scipy.linalg.expm(jax.numpy.full((1, 1), -5.35))
print(bool(abs(whole - half * half)[0, 0] < 1e-12 * whole[0, 0]))
