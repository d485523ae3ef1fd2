"""Resize by "floor" takes the cell before the one it should, where a place is a whole number

Of 270 cells to 9 every 30th is due: 0, 30, 60, 90, and so on.

Ledger: upsample_nearest forward
Expected: [0, 30, 60, 90, 120, 150, 180, 210, 240]
"""

import numpy as np
from preamble import run

x = np.arange(270, dtype=np.float32).reshape(1, 1, 1, 270)
how = {"mode": "nearest", "nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"}
(y,) = run("Resize", [x, None, None, np.array([1, 1, 1, 9])], **how)
print(y.astype(int).ravel().tolist())
