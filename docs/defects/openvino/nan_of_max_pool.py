"""MaxPool passes over NaN: a window of it alone gives the lowest finite number

Ledger: max_pool1d forward, max_pool2d forward, max_pool3d forward
Upstream: https://github.com/openvinotoolkit/openvino/issues/35935
Expected: nan nan
"""

import numpy as np
from preamble import f32, run

rows = f32(1, np.nan, 0), f32(*3 * [np.nan])
print(*(run("MaxPool", [row.reshape(1, 1, 3)], kernel_shape=[3])[0].item() for row in rows))
