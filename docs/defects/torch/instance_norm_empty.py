"""instance_norm of an empty batch raises where it has weights

Without weights it returns an empty tensor.

Ledger: instance_norm forward, instance_norm gradient
Expected:
    (0, 3, 5)
    (0, 3, 5)
"""

import torch
import torch.nn.functional as F

x = torch.zeros(0, 3, 5)
print(tuple(F.instance_norm(x).shape))
print(tuple(F.instance_norm(x, weight=torch.ones(3)).shape))
