"""Gradients of batch_norm are others where the input's axes 1 and 2 lie swapped and the last has size 1

An input of (2, 3, 4, 1) that is stored as (2, 4, 3, 1) passes for channels last. Its gradient, stored row by row, is
then read as if it were channels last too. Values are right. Where the last axis is longer, gradients are right as well.

Ledger: batch_norm gradient
Expected: 0 0
"""

import torch

g = torch.arange(24.0).reshape(2, 3, 4, 1) ** 2
x = torch.sin(torch.arange(24.0)).reshape(2, 3, 4, 1)
found = []
for stored in (x, x.transpose(1, 2).contiguous().transpose(1, 2)):
    leaf, weight = stored.detach().requires_grad_(), torch.ones(3, requires_grad=True)
    torch.nn.functional.batch_norm(leaf, None, None, weight, training=True).backward(g)
    found.append((leaf.grad, weight.grad))
print(*(int((a - b).abs().max() > 0.1) for a, b in zip(*found, strict=True)))
