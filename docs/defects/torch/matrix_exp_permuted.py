"""matrix_exp raises for a batch whose leading axes lie in another order

It makes one axis of them by a view, which an input of such strides has not.

Ledger: matrix_exp forward, matrix_exp gradient
Expected:
    contiguous (2, 3, 4, 4)
    permuted (3, 2, 4, 4)
"""

import torch

x = torch.zeros(2, 3, 4, 4)
for name, given in (("contiguous", x), ("permuted", x.transpose(0, 1))):
    try:
        print(name, tuple(torch.linalg.matrix_exp(given).shape))
    except RuntimeError as error:
        print(name, type(error).__name__)
