"""LRN of float32 carries its sums along the channels: a large one leaves its rounding to all that follow

What leaves the window is taken off the sum of the last channel; the specification sums each window.

Ledger: local_response_norm forward
Expected: 1.0
"""

import numpy as np
from preamble import run

x = np.array([1e4, 1e-2, 1e-2], np.float32).reshape(1, 3, 1, 1)
(y,) = run("LRN", [x], size=1, alpha=1.0, beta=1.0, bias=1.0)
print(round(float(y[0, -1, 0, 0] / (0.01 / 1.0001)), 3))
