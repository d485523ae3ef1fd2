"""local_response_norm of 300 is 0 in float16

It stores x^2 in float16, which overflows from 256 on.

Ledger: local_response_norm forward
Expected:
    float32 69.7
    float16 69.7
"""

import torch
import torch.nn.functional as F

for dtype in (torch.float32, torch.float16):
    y = F.local_response_norm(torch.full((1, 3, 2), 300.0, dtype=dtype), 3)
    print(str(dtype).removeprefix("torch."), f"{y[0, 0, 0].item():.3g}")
