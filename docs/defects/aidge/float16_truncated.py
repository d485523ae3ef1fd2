"""float16 is rounded toward zero, in casts and in every addition of a convolution

2048 and 64 times 1.5 add up to 2144, to 2176 where every sum is rounded to the nearest.

Ledger: cast forward, conv1d forward, conv1d gradient, conv2d forward, conv2d gradient, conv3d forward, conv3d
    gradient, conv_transpose1d forward, conv_transpose2d forward
Expected:
    cast 2052.0
    conv 2144.0
"""

import numpy as np
from preamble import aidge, f32, run

there, back = aidge.Cast(aidge.dtype.float16), aidge.Cast(aidge.dtype.float32)
there.add_child(back, 0, 0)
print("cast", run(there, f32(2051.9), last=back)[0])
x, weight = np.full((1, 65, 1), 1.5, np.float16), np.ones((1, 65, 1), np.float16)
x[0, 0] = 2048
print("conv", run(aidge.Conv1D(65, 1, [1], no_bias=True), x, weight).item())
