"""cross_entropy with label_smoothing is infinite in float16 where the mean loss is a small number

The logarithms of all classes and rows are added up, stored in float16, and then multiplied by a small share and divided
by the number of rows. Beyond 65,504 the sum is infinite.

Ledger: cross_entropy forward
Expected:
    float32 15.9
    float16 15.9
"""

import torch

x = torch.linspace(-4, 4, 64).repeat(256, 1) * 2
target = torch.zeros(256, dtype=torch.long)
for dtype in (torch.float32, torch.float16):
    y = torch.nn.functional.cross_entropy(x.to(dtype), target, label_smoothing=0.2)
    print(str(dtype).removeprefix("torch."), round(y.item(), 1))
