"""grid_sample in 16 bits reads outside the image where it has more than 32,768 elements

The vector code has indices of 16 bits, which wrap: the answers come from memory before the image. Here that is the
image before it in a batch, so that they are the same every time.

Ledger: grid_sample forward
Expected:
    float32 [1.0, 1.0]
    bfloat16 [1.0, 1.0]
    float16 [1.0, 1.0]
"""

import torch
import torch.nn.functional as F

for dtype in (torch.float32, torch.bfloat16, torch.float16):
    three = torch.full((3, 1, 1, 40000), 7.0, dtype=dtype)
    three[1] = 1
    grid = torch.tensor([[[[0.5, 0.0], [0.9, 0.0]]]], dtype=dtype)
    got = F.grid_sample(three[1:2], grid, mode="nearest", padding_mode="border", align_corners=False)
    print(str(dtype).removeprefix("torch."), got.flatten().tolist())
