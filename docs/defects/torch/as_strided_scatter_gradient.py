"""The gradient of as_strided_scatter is that of the elements that were overwritten

y has x where b was not written, so that x's gradient is g there, and 0 where it was.

OpInfo: as_strided_scatter
Expected: [0.0, 0.0, 3.0, 4.0]
"""

import torch

x = torch.zeros(4, requires_grad=True)
y = torch.as_strided_scatter(x, torch.ones(2), (2,), (1,), 0)
y.backward(torch.tensor([1.0, 2.0, 3.0, 4.0]))
print(x.grad.tolist())
