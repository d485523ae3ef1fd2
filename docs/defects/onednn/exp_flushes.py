"""exp is 0 below -86.99, where it is still a normal number, and logistic, swish and mish with it

Ledger: exp forward, exp gradient, sigmoid gradient, silu forward, gelu_quick forward, mish gradient, silu gradient,
    logsigmoid gradient, softplus gradient, gelu_quick gradient
Expected:
    exp 1.53e-38
    gradient of exp 1.53e-08
    logistic 1.53e-38
    swish -1.34e-36
    gradient of mish -1.32e-36
"""

from preamble import eltwise

x = [-87.07] * 16
print(f"exp {eltwise('exp', x)[0]:.3g}")
print(f"gradient of exp {eltwise('exp', x, gradient=[1e30] * 16)[0]:.3g}")
print(f"logistic {eltwise('logistic', x)[0]:.3g}")
print(f"swish {eltwise('swish', x, 1.0)[0]:.3g}")
print(f"gradient of mish {eltwise('mish', x, gradient=[1.0] * 16)[0]:.3g}")
