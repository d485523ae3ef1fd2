"""A sum with a number is not written where the one channel of a tensor has a larger stride than its images

Nothing is reported: the output holds what it held before.

Ledger: add forward, add1 forward, div forward, maximum forward, minimum forward, mul forward, sub forward
Expected: [1.0, 1.0, 1.0, 1.0]
"""

import numpy as np
from preamble import binary, f32

x = np.swapaxes(np.zeros((1, 2, 2), np.float32), 0, 1)
print(binary("add", x, f32([[[1.0]]])).ravel().tolist())
