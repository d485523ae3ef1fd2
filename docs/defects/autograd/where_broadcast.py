"""The gradient of where is not summed over the axes of a broadcast

Ledger: where gradient
Expected: (1, 3)
"""

import autograd
import autograd.numpy as np

yes, other = np.ones((4, 3), bool), np.ones((4, 3))
print(autograd.grad(lambda a: np.sum(np.where(yes, a, other)))(np.ones((1, 3))).shape)
