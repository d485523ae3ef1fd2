"""argsort, leaky_relu and the backward pass of silu find the rows of matrices by the stride of rows alone

Here are the first two rows of each of two matrices of three rows: those of the second matrix are wrong.

Ledger: argsort forward, leaky_relu forward, silu gradient
Expected:
    leaky_relu [0.0, 1.0, 3.0, 4.0]
    argsort [0, 1, 0, 1, 1, 0, 1, 0]
"""

import numpy as np
from preamble import computed, ggml, tensor, view

x = tensor(np.arange(6.0).reshape(2, 3, 1))
print("leaky_relu", computed(ggml("leaky_relu", view(x, (2, 2, 1), (3, 1, 1)), 0.1, False)).tolist())
y = tensor([[[0, 1]] * 3, [[1, 0]] * 3])
print("argsort", computed(ggml("argsort", view(y, (2, 2, 2), (6, 2, 1)), 0)).tolist())
