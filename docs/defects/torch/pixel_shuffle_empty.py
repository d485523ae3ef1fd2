"""The backward of pixel_shuffle of an empty batch has the shape of the output

Ledger: pixel_shuffle gradient
Expected: (0, 4, 3, 5)
"""

import torch
import torch.nn.functional as F

x = torch.zeros(0, 4, 3, 5, requires_grad=True)
F.pixel_shuffle(x, 2).sum().backward()
print(tuple(x.grad.shape))
