"""With ceil_mode, windows of pooling begin in the padding behind

The third would begin at cell 4 of 3 and 1 of padding before.

Ledger: avg_pool2d forward, max_pool2d gradient, max_pool2d forward
Expected: (1, 1, 2, 2)
"""

import numpy as np
from preamble import aidge, run

node = aidge.PaddedAvgPooling2D([2, 2], stride_dims=[2, 2], padding_dims=[1, 1, 1, 1], ceil_mode=True)
print(run(node, np.ones((1, 1, 3, 3), np.float32)).shape)
