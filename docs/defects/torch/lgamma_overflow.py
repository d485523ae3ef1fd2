"""lgamma of 4.081e36 is infinite, where the result is a number of float32

It is 3.3995e38; the largest number is 3.4028e38.

Ledger: lgamma forward
Expected: 3.4e+38
"""

import torch

print(f"{torch.lgamma(torch.tensor([4.081e36]))[0]:.2g}")
