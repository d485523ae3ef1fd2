"""Weighted losses of bfloat16 are rounded to it before they are summed

1.0078125^2 - 1.015625 is 6.1e-5.

Ledger: nll_loss forward
Needs: avx512_bf16
Expected: 6.1e-05
"""

import ml_dtypes
import numpy as np
from preamble import run

x = np.array([[-1.0078125, 0], [0, 1.015625]], ml_dtypes.bfloat16)
weight = np.array([1.0078125, 1], ml_dtypes.bfloat16)
loss = run("NegativeLogLikelihoodLoss", [x, np.array([0, 1]), weight], reduction="sum")[0]
print(f"{loss.view(ml_dtypes.bfloat16).item():.2g}")
