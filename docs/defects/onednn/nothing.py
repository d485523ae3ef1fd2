"""Reductions of nothing give the largest finite number; products over nothing are not written

The result held 7s before.

Ledger: amax forward, amin forward, bmm forward, dot forward, matmul forward, matmul gradient, outer_product
    forward, outer_product gradient
Expected:
    max -inf
    min inf
    matmul [0.0, 0.0]
"""

import numpy as np
from preamble import matmul, reduction

print("max", reduction("max", np.zeros((1, 0)))[0])
print("min", reduction("min", np.zeros((1, 0)))[0])
print("matmul", matmul(np.zeros((1, 0), np.float32), np.zeros((0, 2), np.float32))[0].tolist())
