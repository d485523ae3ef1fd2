"""The gradient of logaddexp at infinity is inf / inf

Ledger: softplus gradient
Expected: 1.0
"""

import autograd
import autograd.numpy as np

with np.errstate(all="ignore"):
    print(float(autograd.grad(np.logaddexp)(np.inf, 0.0)))
