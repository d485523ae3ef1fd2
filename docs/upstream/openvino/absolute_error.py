"""Erf is a fit for absolute error, elu takes exp(x) - 1, softplus log(1 + exp(x))

celu and selu do as elu, mish as softplus.

Ledger: erf forward, elu forward, celu forward, selu forward, softplus forward, mish forward
Expected:
    Erf(1e-5) / 1e-5 1.1284
    Elu(-1e-4) -9.9995e-05
    Softplus(-16) 1.1254e-07
"""

from preamble import f32, run

small = 16 * [1e-5]
print(f"Erf(1e-5) / 1e-5 {run('Erf', [f32(*small)])[0][0] / 1e-5:.4f}")
print(f"Elu(-1e-4) {run('Elu', [f32(*16 * [-1e-4])])[0][0]:.4e}")
print(f"Softplus(-16) {run('Softplus', [f32(*16 * [-16.0])])[0][0]:.4e}")
