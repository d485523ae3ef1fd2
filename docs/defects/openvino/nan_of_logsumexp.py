"""ReduceLogSumExp of NaN is a number, or infinite

Ledger: logsumexp forward
Upstream: https://github.com/openvinotoolkit/openvino/issues/35929
Expected: nan
"""

import numpy as np
from preamble import f32, run

print(run("ReduceLogSumExp", [f32(0.5, 1.5, 2.5, np.nan, 3.5, 4.5), np.array([0])])[0].item())
