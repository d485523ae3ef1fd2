"""im2col, ssm_conv and both optimisers read a view as if it had no gaps, and assert nothing

The tensors are every other row of a larger one.

Ledger: im2col forward, ssm_conv forward, opt_step_adamw forward, opt_step_sgd forward
Expected:
    ssm_conv [1.0, 3.0]
    opt_step_sgd [-1.0, -3.0]
"""

import numpy as np
from preamble import computed, ggml, parameter, tensor, view

weight = view(tensor([[1.0], [2.0], [3.0]]), (2, 1), (2, 1))
print("ssm_conv", computed(ggml("ssm_conv", tensor(np.ones((1, 2, 1))), weight)).tolist())
gradient = view(tensor([[1.0], [2.0], [3.0]]), (2, 1), (2, 1))
print("opt_step_sgd", computed(ggml("opt_step_sgd", parameter([[0.0], [0.0]]), gradient, tensor([1.0, 0.0]))).tolist())
