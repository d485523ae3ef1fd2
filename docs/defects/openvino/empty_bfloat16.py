"""A product over nothing is refused in bfloat16: object is not initialized

In float32 it is 0, as it should be.

Ledger: matmul forward, bmm forward, dot forward
Needs: avx512_bf16
Expected: 0.0
"""

import ml_dtypes
import numpy as np
from preamble import run

empty = np.zeros((3, 0), ml_dtypes.bfloat16)
try:
    print(run("MatMul", [empty, empty.T])[0].max())
except RuntimeError as error:
    print(type(error).__name__)
