"""Gradients of hardsigmoid and celu of float64 have eight digits

1/6, and celu's alpha and its reciprocal, are stored in float32 whatever the dtype.

OpInfo: nn.functional.hardsigmoid, nn.functional.celu
Expected: 0.16666666666667 0.88249690258460
"""

import torch
import torch.nn.functional as F

x, y = (torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (0.5, -0.1))
F.hardsigmoid(x).backward()
F.celu(y, alpha=0.8).backward()
print(f"{x.grad.item():.14f} {y.grad.item():.14f}")
