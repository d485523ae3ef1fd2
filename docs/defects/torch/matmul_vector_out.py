"""The product of stacked matrices and a vector raises where out= is not laid row by row

The matrices are made one, whose product is a vector of all rows; this is added to `out` without its shape.

Ledger: matmul forward
Expected:
    contiguous (3, 4)
    transposed (3, 4)
    gapped (3, 4)
"""

import torch

matrices, vector = torch.ones(3, 4, 5), torch.ones(5)
outs = {"contiguous": torch.empty(3, 4), "transposed": torch.empty(4, 3).T, "gapped": torch.empty(3, 8)[:, :4]}
for name, out in outs.items():
    try:
        print(name, tuple(torch.matmul(matrices, vector, out=out).shape))
    except RuntimeError as error:
        print(name, error)
