"""GroupNorm and InstanceNorm of an empty batch divide by zero: reshape to (0, n, -1)

Ledger: group_norm forward, group_norm gradient, instance_norm forward, instance_norm gradient
Expected: (0, 4, 5)
"""

from tinygrad import Tensor, nn
from tinygrad.helpers import DEV

DEV.value = "CPU"

print(nn.GroupNorm(2, 4)(Tensor.zeros(0, 4, 5)).shape)
