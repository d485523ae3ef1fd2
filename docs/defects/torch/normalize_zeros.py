"""normalize of a row of zeros is NaN in float16

Its eps, 1e-12, is 0 in float16; the documented result is x / max(|x|, eps), which is 0.

Ledger: l2_norm forward, l2_norm gradient
Upstream: https://github.com/pytorch/pytorch/issues/32137
Expected: [0.0, 0.0]
"""

import torch
import torch.nn.functional as F

print(F.normalize(torch.zeros(1, 2).half())[0].tolist())
