"""With ceil_mode a window of pooling may begin in the padding behind

The last would begin at cell 4 of 3 and 1 of padding before.

Ledger: max_pool1d forward, max_pool2d forward, max_pool3d forward, avg_pool1d forward
Expected: (1, 1, 2)
"""

import numpy as np
from preamble import run

x = np.ones((1, 1, 3), np.float32)
print(run("MaxPool", [x], kernel_shape=[2], strides=[2], pads=[1, 1], ceil_mode=1)[0].shape)
