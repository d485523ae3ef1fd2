"""erf of small numbers is a tenth off in bfloat16, and 0 in float16

erf(x) is 1.1284 x for small x, here to the nearest number of the dtype. The vector code is accurate to 1e-7 absolutely.

Ledger: erf forward
Upstream: https://github.com/pytorch/pytorch/issues/198183
Expected: 1.1250 1.0000
"""

import torch

x, y = 2.0**-20, 2.0**-24
bfloat = torch.erf(torch.full((64,), x).bfloat16())[0].item()
half = torch.erf(torch.full((64,), y).half())[0].item()
print(f"{bfloat / x:.4f} {half / y:.4f}")
