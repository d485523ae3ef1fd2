"""Nearest upsampling by 41 takes the cell before at exact multiples

The place in x is i times in/out, rounded to float32: 82 times 3/123 is below 2, so y[82] is x[1].

Ledger: upsample_nearest forward, upsample_nearest gradient
Expected: [1.0, 2.0, 2.0]
"""

import torch

x = torch.arange(3.0).reshape(1, 1, 3)
print(torch.nn.functional.interpolate(x, size=123, mode="nearest")[0, 0, 81:84].tolist())
