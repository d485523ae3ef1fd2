"""The gradient of solve_triangular forgets unit_diagonal

With a unit diagonal b is solved by the transpose of ((1, 0), (1, 1)).

Ledger: solve_triangular gradient
Expected: [0.0, 1.0]
"""

import autograd
import autograd.numpy as np
from autograd.scipy.linalg import solve_triangular

a = np.array([[2.0, 0.0], [1.0, 2.0]])
loss = lambda b: np.sum(solve_triangular(a, b, lower=True, unit_diagonal=True))
print(autograd.grad(loss)(np.ones(2)).tolist())
