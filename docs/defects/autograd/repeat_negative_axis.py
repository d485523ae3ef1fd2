"""The gradient of repeat along axis -1 is wrong

It slices shape[axis + 1:], which for -1 is the whole shape. The two are the same axis.

Ledger: repeat_interleave gradient
Expected:
    axis 1 [1.0, 5.0, 9.0]
    axis -1 [1.0, 5.0, 9.0]
"""

import autograd
import autograd.numpy as np

weights = np.arange(12.0).reshape(2, 6)
for axis in (1, -1):
    loss = lambda x, axis=axis: np.sum(np.repeat(x, 2, axis=axis) * weights)
    print("axis", axis, autograd.grad(loss)(np.ones((2, 3)))[0].tolist())
