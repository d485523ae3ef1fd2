"""Exp of NaN is infinite

Ledger: exp forward
Upstream: https://github.com/openvinotoolkit/openvino/issues/35685
Expected: nan
"""

import numpy as np
from preamble import f32, run

print(run("Exp", [f32(*16 * [np.nan])])[0][0])
