"""Gradients of acosh and asinh are 0 where x squared overflows

It is 1 / sqrt(x^2 - 1), or + 1, formed in the dtype of x: 0 from 256 on in float16, from 1.9e19 on in float32.

Ledger: acosh gradient, asinh gradient
Expected: 0.00333 1e-20 1e-20
"""

import torch

x = torch.tensor(300.0, dtype=torch.float16, requires_grad=True)
y = torch.tensor(1e20, requires_grad=True)
torch.acosh(x).backward()
torch.acosh(y).backward()
z = torch.tensor(1e20, requires_grad=True)
torch.asinh(z).backward()
print(f"{x.grad.item():.3g} {y.grad.item():.3g} {z.grad.item():.3g}")
