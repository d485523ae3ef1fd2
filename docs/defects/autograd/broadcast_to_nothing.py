"""The gradient of an axis that was broadcast to 0 has its shape

Ledger: expand gradient
Expected: (3, 1)
"""

import autograd
import autograd.numpy as np

print(autograd.grad(lambda a: np.sum(np.broadcast_to(a, (3, 0))))(np.ones((3, 1))).shape)
