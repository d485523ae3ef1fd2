"""Gradients of x sigmoid(1.702 x) and of xIELU, composed of PyTorch's operations, are NaN where a factor overflows

g x, and 2 x of the square in the branch that is not taken, are infinite before they are multiplied by 0. PyTorch's own
silu has no such intermediate.

Ledger: gelu_quick gradient, xielu gradient
Expected:
    silu 2
    quick gelu 2
    branches 1
"""

import torch

x, y = (torch.tensor(v, requires_grad=True) for v in (3e38, -3e38))
torch.nn.functional.silu(x).backward(torch.tensor(2.0))
print(f"silu {x.grad:g}")
x.grad = None
(x * torch.sigmoid(1.702 * x)).backward(torch.tensor(2.0))
print(f"quick gelu {x.grad:g}")
torch.where(y > 0, torch.square(y), y).backward()
print(f"branches {y.grad:g}")
