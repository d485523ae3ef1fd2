"""The gradient of atan2 in float16 is 0 past 255

It is b / (a^2 + b^2), with the sum of squares stored in float16.

Ledger: atan2 gradient
Upstream: https://github.com/pytorch/pytorch/issues/193040
Expected: 0.000552
"""

import torch

a, b = (torch.tensor(v, dtype=torch.float16, requires_grad=True) for v in (900.0, 800.0))
torch.atan2(a, b).backward()
print(f"{a.grad.item():.3g}")
