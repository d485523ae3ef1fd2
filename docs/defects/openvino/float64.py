"""float64 is computed in float32: the plugin converts every model

Infinities that a float32 does not hold are not found either.

Ledger: erf forward, masked_fill forward, sigmoid forward, isinf forward, abs forward, ceil forward, cosh forward,
    exp2 forward, floor forward, neg forward, round forward, sinh forward
Expected:
    Sigmoid 0.668187772168
    IsInf [True]
    Abs 1.000000001
    Ceil 2
    Cosh 1.255169005631
"""

import numpy as np
from preamble import run

print(f"Sigmoid {run('Sigmoid', [np.array([0.7])])[0][0]:.12f}")
print("IsInf", run("IsInf", [np.array([np.inf])])[0].tolist())
print(f"Abs {run('Abs', [np.array([-1.000000001])])[0][0]:.9f}")
print(f"Ceil {run('Ceil', [np.array([1.000000001])])[0][0]:.0f}")
print(f"Cosh {run('Cosh', [np.array([0.7])])[0][0]:.12f}")
