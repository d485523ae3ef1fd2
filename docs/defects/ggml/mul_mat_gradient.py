"""The backward pass of ggml_mul_mat aborts where a repeated first matrix has a fourth axis

Ledger: linear gradient, matmul gradient
Expected: [8.0, 8.0]
"""

import numpy as np
from preamble import ggml, gradients, outcome, parameter

a, b = parameter(np.ones((2, 1, 1, 1))), parameter(np.ones((2, 2, 2, 1)))
print(outcome(lambda: gradients(ggml("mul_mat", a, b), np.ones((2, 2, 2, 1)) * 2, a)[0].tolist()))
