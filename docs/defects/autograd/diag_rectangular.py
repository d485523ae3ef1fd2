"""The gradient of the diagonal of a matrix is square, whatever the matrix is

Ledger: diag gradient
Expected: (2, 3)
"""

import autograd
import autograd.numpy as np

print(autograd.grad(lambda x: np.sum(np.diag(x)))(np.ones((2, 3))).shape)
