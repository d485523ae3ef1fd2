"""_int_mm of one column and a transposed row leaves its result unwritten

Both matrices count as contiguous; what comes is what the memory held before. Sums of two terms are right.

Ledger: scaled_mm forward
Needs: vnni
Expected: True
"""

import torch

wrong = 0
for i in range(1, 100):
    a = torch.tensor([[i % 100]], dtype=torch.int8)
    b = torch.tensor([[1], [2], [3]], dtype=torch.int8)
    before = torch.full((1, 3), -1, dtype=torch.int32)
    del before  # its memory is the next result's
    wrong += not torch.equal(torch._int_mm(a, b.t()), a.int() * b.t().int())  # noqa: SLF001
print(wrong == 0)
