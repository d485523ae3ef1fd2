"""narrow_copy with a negative start has no gradient: its backward fails

narrow has it.

OpInfo: narrow_copy
Expected: [1.0, 1.0]
"""

import torch

x = torch.zeros(2, requires_grad=True)
torch.narrow_copy(x, 0, -2, 2).sum().backward()
print(x.grad.tolist())
