"""The gradient of hypot at (0, 0) is NaN

It is g a / y, 0 / 0. Any subgradient has a norm of at most 1; torch.norm gives 0.

Ledger: hypot gradient
Expected: 0.0 0.0
"""

import torch

a, b = torch.zeros(1, requires_grad=True), torch.zeros(1, requires_grad=True)
torch.hypot(a, b).backward()
print(a.grad.item(), b.grad.item())
