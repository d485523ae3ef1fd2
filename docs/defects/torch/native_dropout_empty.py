"""native_dropout of no elements gives a mask of the input's dtype

With elements, and where not training, it is of bool.

Ledger: dropout forward, dropout gradient
Expected: torch.bool
"""

import torch

print(torch.native_dropout(torch.zeros(0, 5), 0.3, True)[1].dtype)
