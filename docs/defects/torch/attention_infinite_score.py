"""An infinite score makes a row of attention 0 in 16 bits, NaN in 32

softmax of a row of inf is NaN. The 16-bit kernel hides it.

Ledger: scaled_dot_product_attention forward
Unless: avx512bw
Expected:
    float32 nan
    float16 nan
    bfloat16 nan
"""

import torch
import torch.nn.functional as F

for name in ("float32", "float16", "bfloat16"):
    q = torch.full((1, 1, 1, 4), float("inf"), dtype=getattr(torch, name))
    k = v = torch.ones(1, 1, 8, 4, dtype=q.dtype)
    print(name, F.scaled_dot_product_attention(q, k, v)[0, 0, 0, 0].item())
