"""Gradients of batch_norm are others where a channels-last input meets a weight whose elements lie apart

Every channel has the weight 0.5, once as a vector and once as a number expanded to one. What lies beside that number in
memory is read for the other channels. Values and the gradient of the weight are right.

Ledger: batch_norm gradient
Expected:
    row by row 0.0
    channels last 0.0
"""

import torch

torch.manual_seed(0)
x, g = torch.randn(2, 3, 4, 4), torch.randn(2, 3, 4, 4)
memory = torch.tensor([0.5, 7.0, 9.0])
for name, order in (("row by row", torch.contiguous_format), ("channels last", torch.channels_last)):
    found = []
    for weight in (torch.full((3,), 0.5), memory.as_strided((3,), (0,))):
        leaf = x.to(memory_format=order).requires_grad_()
        y = torch.nn.functional.batch_norm(leaf, None, None, weight, training=True)
        (dx,) = torch.autograd.grad(y, leaf, g.to(memory_format=order))
        found.append(dx)
    print(name, float((found[0] - found[1]).abs().max() > 1))
