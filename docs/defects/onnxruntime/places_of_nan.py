"""ArgMax passes over NaN unless it comes first, MaxPool always

Ledger: argmax forward, argmin forward, hardmax forward, max_pool1d forward, max_pool2d forward
Expected:
    ArgMax 0 1
    MaxPool nan nan
"""

import numpy as np
from preamble import f32, run

rows = f32(np.nan, 1, 2), f32(1, np.nan, 2)
print("ArgMax", *(run("ArgMax", [row.reshape(1, 3)], axis=1)[0].item() for row in rows))
print("MaxPool", *(run("MaxPool", [row.reshape(1, 1, 3)], kernel_shape=[3])[0].item() for row in rows))
