"""The gradient of a Pad that widens one axis and crops another is in the wrong places

Ledger: pad gradient
Expected: [[0.0, 1.0], [0.0, 2.0]]
"""

import numpy as np
from preamble import aidge, run

x, g = np.ones((2, 2), np.float32), np.array([[0.0], [1.0], [2.0]], np.float32)
print(run(aidge.Pad([1, -1, 0, 0]), x, gradient=g).tolist())
