"""grid_sample computes positions in 16 bits: cells off, and NaN where the width is infinite in float16

The grid has the same values in all dtypes; 65537 is infinite in float16.

Ledger: grid_sample forward, grid_sample gradient
Expected:
    float32 cell 189.0
    bfloat16 cell 189.0
    float16 middle 1.0
"""

import torch
import torch.nn.functional as F

at = torch.tensor([[[[0.9, 0.0]]]]).bfloat16()
for dtype in (torch.float32, torch.bfloat16):
    ramp = torch.arange(200).expand(1, 1, 1, 200).to(dtype)
    cell = F.grid_sample(ramp, at.to(dtype), mode="nearest", align_corners=False)
    print(str(dtype).removeprefix("torch."), "cell", cell.item())
wide = torch.ones(1, 1, 1, 65537, dtype=torch.float16)
middle = F.grid_sample(wide, 0 * at.half(), padding_mode="border", align_corners=False)
print("float16 middle", middle.item())
