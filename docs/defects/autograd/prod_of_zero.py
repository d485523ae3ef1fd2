"""The gradient of prod is NaN where an element is 0

It divides the product by each element.

Ledger: prod gradient
Upstream: https://github.com/HIPS/autograd/issues/93
Expected: [6.0, 0.0, 0.0]
"""

import autograd
import autograd.numpy as np

print(autograd.grad(np.prod)(np.array([0.0, 2.0, 3.0])).tolist())
