"""softplus overflows where the threshold is above 88.7

log1p(exp(x)) is formed in float32 up to the threshold, where exp(x) is infinite; the gradient is inf / inf.

Ledger: softplus forward, softplus gradient
Upstream: https://github.com/pytorch/pytorch/issues/171249
Expected: 97.0 1.0
"""

import torch
import torch.nn.functional as F

x = torch.tensor([97.0], requires_grad=True)
y = F.softplus(x, threshold=100)
y.backward()
print(y.item(), x.grad.item())
