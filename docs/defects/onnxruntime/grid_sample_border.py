"""GridSample under "border" far outside gives 0 or twice the value

The weights are those of the place before it is moved to the edge. The image is 1 everywhere.

Ledger: grid_sample forward
Expected: [1.0, 1.0, 1.0]
"""

import numpy as np
from preamble import run

grid = np.array([[[[1e4, 0.0], [3e7, 0.0], [9e8, 0.0]]]], np.float32)
y = run("GridSample", [np.ones((1, 1, 4, 4), np.float32), grid], opset=20, padding_mode="border", align_corners=0)[0]
print(y.ravel().tolist())
