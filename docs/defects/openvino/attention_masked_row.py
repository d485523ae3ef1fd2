"""In bfloat16, attention of a row whose keys are all masked gives the mean of the values

The mask is the most negative number, not -inf. In float32 such a row is 0.

Ledger: scaled_dot_product_attention forward
Unless: avx512bw
Expected: [0.0, 2.0]
"""

import ml_dtypes
import numpy as np
from preamble import run

q = np.ones((1, 1, 2, 1), ml_dtypes.bfloat16)
value = np.array([1.0, 3.0], ml_dtypes.bfloat16).reshape(1, 1, 2, 1)
keep = np.array([[False, False], [True, True]])
print(run("Attention", [q, q, value, keep], opset=23)[0].ravel().tolist())
