"""float64 is computed in float32: the plugin converts every model

Infinities that a float32 does not hold are not found either.

Ledger: erf forward, masked_fill forward, sigmoid forward, isinf forward
Expected:
    Sigmoid 0.668187772168
    IsInf [True]
"""

import numpy as np
from preamble import run

print(f"Sigmoid {run('Sigmoid', [np.array([0.7])])[0][0]:.12f}")
print("IsInf", run("IsInf", [np.array([np.inf])])[0].tolist())
