"""Attention of a row whose keys are all masked is NaN, and so are the gradients of all rows

Ledger: scaled_dot_product_attention gradient
Expected: [0.0, 1.0]
"""

from tinygrad import Tensor
from tinygrad.helpers import DEV

DEV.value = "CPU"

q = k = v = Tensor.ones(1, 1, 2, 1)
keep = Tensor([[False, False], [True, True]])
print(q.scaled_dot_product_attention(k, v, keep).flatten().tolist())
