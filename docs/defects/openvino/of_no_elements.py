"""Reductions of no elements: the largest finite number for max, 0 for the mean

Ledger: amax forward, amin forward, mean forward
Expected:
    ReduceMax -inf
    ReduceMin inf
    ReduceMean nan
"""

import numpy as np
from preamble import run

for op in ("ReduceMax", "ReduceMin", "ReduceMean"):
    print(op, run(op, [np.zeros((3, 0), np.float32), np.array([-1])], constant=(1,), keepdims=0)[0][0])
