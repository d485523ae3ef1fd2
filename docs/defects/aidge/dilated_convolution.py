"""A dilated convolution whose kernel spans 3 x 3 is taken for one of 3 x 3

The kernel is 2 x 2, dilated by 2: its weights are 1, 10, 100 and 1000 over an image that is 1 in its corners.

Ledger: conv2d forward, conv2d_depthwise forward
Expected: 1111
"""

import numpy as np
from preamble import aidge, run

x = np.zeros((1, 1, 3, 3), np.float32)
x[..., ::2, ::2] = 1
weight = np.array([1, 10, 100, 1000], np.float32).reshape(1, 1, 2, 2)
y = run(aidge.Conv2D(1, 1, [2, 2], dilation_dims=[2, 2], no_bias=True), x, weight).item()
print("1111" if y == 1111 else "another number")
