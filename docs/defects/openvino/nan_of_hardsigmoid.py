"""HardSigmoid of NaN is 1

Ledger: hardsigmoid forward
Upstream: https://github.com/openvinotoolkit/openvino/issues/35930
Expected: nan
"""

import numpy as np
from preamble import f32, run

print(run("HardSigmoid", [f32(*16 * [np.nan])])[0][0])
