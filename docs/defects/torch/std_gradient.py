"""The float16 gradient of std passes through subnormal numbers where std is large

g / (2 y) is stored in float16.

Ledger: std gradient
Expected:
    float32 0.00346
    float16 0.00346
"""

import torch

for dtype in (torch.float32, torch.float16):
    x = torch.tensor([0.0, 6901.0], dtype=dtype, requires_grad=True)
    torch.std(x).backward(torch.tensor(-0.0049, dtype=dtype))
    print(str(dtype).removeprefix("torch."), f"{x.grad[0].item():.3g}")
