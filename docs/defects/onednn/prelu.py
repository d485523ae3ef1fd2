"""prelu is NaN at positive x where the weight is infinite, and does not write gradients of no rows

It takes max(x, 0) + weight min(x, 0). Gradients of the weights held 7s before.

Ledger: prelu forward, prelu gradient
Expected:
    1.0
    0.0
"""

import numpy as np
from preamble import f32, full, prelu, prelu_gradients

print(prelu(f32([[1.0]]), f32([[np.inf]]))[0, 0])
of_weight, empty = full((1, 1)), np.zeros((0, 1), np.float32)
prelu_gradients(empty, f32([[0.25]]), empty, of_weight)
print(of_weight[0, 0])
