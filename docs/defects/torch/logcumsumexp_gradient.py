"""The backward of logcumsumexp takes a difference of logarithms in bfloat16

Its float64 gradient is 7.1e-17 for the third element.

Ledger: logcumsumexp gradient
Expected:
    float64 7.1e-17
    bfloat16 7.1e-17
"""

import torch

for dtype in (torch.float64, torch.bfloat16):
    x = torch.tensor([0.0, 0.0, -37.0, 0.0], dtype=dtype, requires_grad=True)
    torch.logcumsumexp(x, 0).backward(torch.tensor([0.0, 0.0, 1.0, 1.0], dtype=dtype))
    print(str(dtype).removeprefix("torch."), f"{x.grad[2].item():.2g}")
