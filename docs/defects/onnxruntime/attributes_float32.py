"""Attributes are float32, so that a Gemm of float64 multiplies by another alpha

The same holds for the epsilon and the momentum of BatchNormalization.

Ledger: addmm forward, batch_norm_training forward
Expected: 1.1
"""

import numpy as np
from preamble import run

(y,) = run("Gemm", [np.ones((1, 1)), np.ones((1, 1))], alpha=1.1)
print(y.item())
