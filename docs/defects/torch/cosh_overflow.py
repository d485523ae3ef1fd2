"""cosh of 89 is infinite in vectors of 8 and more, and so is sinh

exp(x) overflows at 88.73 and is halved afterwards. A tensor of one element gives the right value.

Ledger: cosh forward, sinh forward
Upstream: https://github.com/pytorch/pytorch/issues/48641
Expected: 2.24e+38 2.24e+38 2.24e+38
"""

import torch

one, many = torch.cosh(torch.full((1,), 89.0)), torch.cosh(torch.full((32,), 89.0))
sinh = torch.sinh(torch.full((32,), 89.0))
print(f"{one[0]:.3g} {many[0]:.3g} {sinh[0]:.3g}")
