"""The gradient of abs is NaN at infinity

It is g x / |x|.

Ledger: abs gradient
Expected: 1.0
"""

import autograd
import autograd.numpy as np

print(float(autograd.grad(np.abs)(np.inf)))
