"""The gradient of transpose with negative axes has another shape

It sorts the axes as they stand.

Ledger: permute gradient
Expected: (2, 3, 4)
"""

import autograd
import autograd.numpy as np

print(autograd.grad(lambda x: np.sum(np.transpose(x, (-1, 0, 1))))(np.ones((2, 3, 4))).shape)
