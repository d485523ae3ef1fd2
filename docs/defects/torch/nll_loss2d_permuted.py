"""The backward of nll_loss raises for a permuted input of four axes

Ledger: nll_loss gradient
Upstream: https://github.com/pytorch/pytorch/issues/175084
Expected: (1, 2, 3, 4)
"""

import torch
import torch.nn.functional as F

x = torch.randn(1, 3, 4, 2).permute(0, 3, 1, 2).requires_grad_()
F.nll_loss(x, torch.zeros(1, 3, 4, dtype=torch.long)).backward()
print(tuple(x.grad.shape))
