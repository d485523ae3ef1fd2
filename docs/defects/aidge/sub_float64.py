"""The gradient of Sub in float64 is registered without a function

Ledger: sub gradient
Expected: [1.0]
"""

import numpy as np
from preamble import aidge, run

one = np.ones(1)
print(run(aidge.Sub(), one, one, gradient=one).tolist())
