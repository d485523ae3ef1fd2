"""The gradient of group_norm with a bias and no weight raises an error of PyTorch's own

Ledger: group_norm gradient
Expected: ones
"""

import torch

x, bias = torch.randn(2, 4, 3, requires_grad=True), torch.zeros(4, requires_grad=True)
y = torch.nn.functional.group_norm(x, 2, None, bias)
try:
    y.backward(torch.ones(2, 4, 3) / 6)
    print("ones" if torch.allclose(bias.grad, torch.ones(4)) else bias.grad)
except RuntimeError as error:
    print(error)
