"""The gradient of linalg.norm with keepdims has another shape

The cotangent is given the axis once more, which it has already.

Ledger: norm gradient
Expected: (3, 5)
"""

import autograd
import autograd.numpy as np

x = np.arange(15.0).reshape(3, 5) + 1
print(autograd.grad(lambda x: np.sum(np.linalg.norm(x, axis=1, keepdims=True)))(x).shape)
