"""A row of attention whose scores are NaN is 0 where its keys do not fill a vector

The kernel that gives it is the CPU's fused one; sdpa_kernel(SDPBackend.MATH) gives NaN.

Ledger: scaled_dot_product_attention forward
Needs: avx512bw
Expected: nan nan
"""

import torch
import torch.nn.functional as F

for keys in (9, 16):
    q, k = torch.ones(1, 1, 2, 4), torch.ones(1, 1, keys, 4)
    q[..., 1, 0] = float("nan")
    print(F.scaled_dot_product_attention(q, k, k)[0, 0, 1, 0].item(), end=" ")
