"""erf and expit of float16 give float64: SciPy lists its float64 kernel first

Ledger: erf forward, sigmoid forward
Expected: float16 float16
"""

import autograd.numpy as np
from autograd.scipy.special import erf, expit

x = np.ones(1, np.float16)
print(erf(x).dtype, expit(x).dtype)
