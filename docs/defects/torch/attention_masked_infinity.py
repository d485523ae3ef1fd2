"""A key that a mask of booleans leaves out makes a row of attention NaN where its score overflows

-inf is added to the score, which is inf.

Ledger: scaled_dot_product_attention gradient
Expected: 1.0
"""

import torch
import torch.nn.functional as F

q = torch.full((1, 1, 1, 4), 1e30)
k = torch.stack([torch.zeros(4), torch.full((4,), 1e30)])[None, None]
print(F.scaled_dot_product_attention(q, k, torch.ones(1, 1, 2, 4), torch.tensor([[True, False]]))[0, 0, 0, 0].item())
