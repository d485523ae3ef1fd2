"""Comparisons of two transposed tensors into a row-major result of bytes ignore the strides

Ledger: eq forward, ge forward, gt forward, le forward, lt forward, ne forward
Expected: 0 of 514 wrong
"""

import numpy as np
from preamble import binary

numbers = np.random.default_rng(0)
a, b = (np.sign(numbers.standard_normal((257, 2))).astype(np.float32).T for _ in range(2))
wrong = binary("eq", a, b, np.uint8) != (a == b)
print(f"{wrong.sum()} of {wrong.size} wrong")
