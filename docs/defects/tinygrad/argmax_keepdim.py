"""argmax of all elements drops keepdim: what comes is the number of the flattened tensor, without axes

Ledger: argmax forward, argmin forward
Expected: (1, 1) (1, 1)
"""

from tinygrad import Tensor
from tinygrad.helpers import DEV

DEV.value = "CPU"

x = Tensor([[1.0, 2.0], [3.0, 0.0]])
print(x.argmax(None, keepdim=True).shape, x.argmin(None, keepdim=True).shape)
