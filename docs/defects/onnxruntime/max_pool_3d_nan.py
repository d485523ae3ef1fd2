"""MaxPool passes over NaN in float16 unless it comes first in a window

Ledger: max_pool3d forward
Expected: nan
"""

import numpy as np
from preamble import run

x = np.array([1, np.nan, 0], np.float16).reshape(1, 1, 1, 1, 3)
print(run("MaxPool", [x], kernel_shape=[1, 1, 3], opset=22)[0].item())
