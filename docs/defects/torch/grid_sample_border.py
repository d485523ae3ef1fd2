"""grid_sample with padding_mode="border" in 16 bits reads the cell behind the last one

The place of the last of 384 cells, 383, rounds to 384 in bfloat16, and positions are clipped to that. What lies behind
the image in memory is the answer: here the next image of a batch.

Ledger: grid_sample forward, grid_sample gradient
Expected:
    float32 [1.0]
    bfloat16 [1.0]
"""

import torch

for dtype in (torch.float32, torch.bfloat16):
    images = torch.full((2, 1, 1, 384), 7.0, dtype=dtype)
    images[0] = 1
    right = torch.tensor([[[[1.0, 0.0]]]], dtype=dtype)
    y = torch.nn.functional.grid_sample(images[:1], right, padding_mode="border", align_corners=True)
    print(str(dtype).removeprefix("torch."), y.flatten().tolist())
