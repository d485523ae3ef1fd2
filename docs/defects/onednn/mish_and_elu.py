"""mish and elu lose all digits of small results; gradients of mish and gelu_tanh are NaN at large x

mish forms (1 + exp(x))² - 1, elu exp(x) - 1, gelu_tanh x³.

Ledger: mish forward, mish gradient, elu forward, gelu gradient
Expected:
    mish(-16) -1.80e-06
    elu(-1e-4) -9.9995e-05
    gradient of mish at 1e14 1
    gradient of gelu_tanh at 1e14 1
"""

from preamble import eltwise

one = [1.0] * 16
print(f"mish(-16) {eltwise('mish', [-16.0] * 16)[0]:.2e}")
print(f"elu(-1e-4) {eltwise('elu', [-1e-4] * 16, 1.0)[0]:.4e}")
print(f"gradient of mish at 1e14 {eltwise('mish', [1e14] * 16, gradient=one)[0]:g}")
print(f"gradient of gelu_tanh at 1e14 {eltwise('gelu_tanh', [1e14] * 16, gradient=one)[0]:g}")
