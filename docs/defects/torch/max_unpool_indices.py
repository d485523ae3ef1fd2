"""The gradient of max_unpool2d raises for indices that lie in another order

It makes one axis of them by a view, which indices of such strides have not; the values are right.

Ledger: max_unpool2d gradient
Expected:
    contiguous (1, 2, 3, 3)
    permuted (1, 2, 3, 3)
"""

import torch

x = torch.ones(1, 2, 3, 3, requires_grad=True)
places = torch.arange(9).reshape(1, 1, 3, 3).repeat(1, 2, 1, 1)
for name, indices in (("contiguous", places), ("permuted", places.transpose(2, 3))):
    y = torch.nn.functional.max_unpool2d(x, indices, 2)
    try:
        print(name, tuple(torch.autograd.grad(y.sum(), x)[0].shape))
    except RuntimeError as error:
        print(name, type(error).__name__)
