"""_int_mm leaves its result unwritten where an axis of size 1 has a stride that is less than a row

Such matrices count as contiguous: one row of stride 1, or one column that is transposed. What comes is what the memory
held before. The same numbers with the usual stride give the right product.

Ledger: scaled_mm forward
Needs: vnni
Expected:
    row True
    column True
"""

import torch


def wrong(a, b):
    found = 0
    for i in range(100):
        before = torch.full((a.shape[0], b.shape[1]), -1 - i, dtype=torch.int32)
        del before  # its memory is the next result's
        found += not torch.equal(torch._int_mm(a, b), a.int() @ b.int())  # noqa: SLF001
    return found


def ones(shape, strides):
    return torch.empty_strided(shape, strides, dtype=torch.int8).fill_(1)


print("row", wrong(ones((1, 8), (1, 1)), ones((8, 3), (3, 1))) == 0)
print("column", wrong(ones((1, 1), (1, 1)), ones((1, 3), (1, 1))) == 0)
