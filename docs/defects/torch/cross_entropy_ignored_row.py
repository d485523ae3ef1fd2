"""A row that ignore_index leaves out has a NaN gradient where its logits are NaN

The gradient of such a row is 0 times the softmax, not 0; the loss itself leaves the row out.

Ledger: cross_entropy gradient
Upstream: https://github.com/pytorch/pytorch/issues/11551
Expected: 0.3133 [0.0, 0.0]
"""

import torch
import torch.nn.functional as F

x = torch.tensor([[float("nan"), 0.0], [1.0, 2.0]], requires_grad=True)
loss = F.cross_entropy(x, torch.tensor([-100, 1]))
loss.backward()
print(f"{loss.item():.4f}", x.grad[0].tolist())
