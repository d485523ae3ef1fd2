"""Gemm leaves beta out where the product has no terms

Ledger: addmm forward
Expected: 0.5
"""

import numpy as np
from preamble import run

half = np.float16
print(run("Gemm", [np.zeros((1, 0), half), np.zeros((0, 1), half), np.ones((1, 1), half)], beta=0.5)[0].item())
