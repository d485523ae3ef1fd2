"""Bernoulli draws 1 with the probability of 0

ONNX's own function of it draws a number of [0, 1) and gives 1 where that is greater than the probability, not less.

Ledger: bernoulli forward
Expected:
    0.0 0
    0.125 128
    1.0 1024
"""

import numpy as np
from preamble import run

for p in (0.0, 0.125, 1.0):
    (y,) = run("Bernoulli", [np.full(1024, p, np.float32)], opset=21, seed=1.0)
    print(p, int(y.sum()))
