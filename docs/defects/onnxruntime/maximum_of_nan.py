"""ReduceMax passes over NaN unless it comes first

Ledger: amax forward, amin forward
Upstream: https://github.com/microsoft/onnxruntime/issues/10514
Expected: nan nan
"""

import numpy as np
from preamble import f32, run

print(*(run("ReduceMax", [f32(*row)])[0].item() for row in ([np.nan, 1, 2], [1, np.nan, 2])))
