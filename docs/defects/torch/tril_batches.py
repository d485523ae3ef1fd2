"""tril and triu with out= write past its end where batches of matrices are not one stride apart

Each matrix is written the stride of the third last axis after the one before, whatever the axes before it. Of batches
in another order most of the result stays as it was, and what follows it in memory is overwritten.

Ledger: tril forward, triu forward
Expected:
    tril right True, overwritten 0
    triu right True, overwritten 0
"""

import torch

x = torch.arange(1.0, 121.0).reshape(2, 3, 5, 4)
for name in ("tril", "triu"):
    memory = torch.zeros(400)
    out = memory.as_strided((2, 3, 5, 4), (20, 40, 4, 1))  # the first two axes lie swapped
    getattr(torch, name)(x, out=out)
    right = torch.equal(out, getattr(torch, name)(x))
    print(f"{name} right {right}, overwritten {int(memory[120:].count_nonzero())}")
