"""Relu of NaN is 0

Ledger: relu forward
Upstream: https://github.com/openvinotoolkit/openvino/issues/35649
Expected: nan
"""

import numpy as np
from preamble import f32, run

print(run("Relu", [f32(*16 * [np.nan])])[0][0])
