"""Elu takes exp(x) - 1 instead of expm1(x)

celu and selu do as elu; mish is made of log(1 + exp(x)).

Ledger: elu forward, celu forward, selu forward, mish forward
Expected: -9.9995e-05
"""

from preamble import f32, run

print(f"{run('Elu', [f32(*16 * [-1e-4])])[0][0]:.4e}")
