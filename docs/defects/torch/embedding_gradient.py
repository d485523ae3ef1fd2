"""Gradients of a row that is read often are added up in 16 bits, one by one

A bfloat16 sum of 0.25 stops at 64: 64.25 rounds to 64. The row below is read 4,096 times. index_add does the same.

Ledger: embedding gradient, embedding_bag gradient, add_id gradient, mul_mat_id gradient
Expected: 1024.0 16384.0
"""

import torch
import torch.nn.functional as F

weight = torch.zeros(2, 1, dtype=torch.bfloat16, requires_grad=True)
rows = F.embedding(torch.zeros(4096, dtype=torch.long), weight)
rows.backward(torch.full((4096, 1), 0.25, dtype=torch.bfloat16))
many = torch.full((65536,), 0.25, dtype=torch.float16)
total = torch.zeros(1, dtype=torch.float16).index_add(0, torch.zeros(65536, dtype=torch.long), many)
print(weight.grad[0].item(), total.item())
