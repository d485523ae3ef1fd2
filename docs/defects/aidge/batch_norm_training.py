"""BatchNorm with training_mode takes the running moments

The batch's are mean 1 and variance 1; the running ones 0 and 1.

Ledger: batch_norm forward
Expected: [-1.0, 1.0]
"""

import numpy as np
from preamble import aidge, f32, run

node = aidge.BatchNorm2D(1, 1e-5, training_mode=True)
y = run(node, np.array([[[[0.0, 2.0]]]], np.float32), f32(1.0), f32(0.0), f32(0.0), f32(1.0))
print([round(v, 2) for v in y.ravel().tolist()])
