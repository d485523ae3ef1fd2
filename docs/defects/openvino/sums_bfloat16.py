"""Sums of bfloat16 numbers are kept in bfloat16: at 256 they stop growing

Ledger: cumsum forward, index_add forward, scatter_add forward
Needs: avx512_bf16
Expected: 1024.0
"""

import ml_dtypes
import numpy as np
from preamble import run

print(run("CumSum", [np.ones(1024, ml_dtypes.bfloat16), np.array(0)], constant=(1,))[0].view(ml_dtypes.bfloat16)[-1])
