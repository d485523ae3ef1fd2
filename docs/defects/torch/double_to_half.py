"""float64 becomes float16 by way of float32, and is rounded twice

The number is above the middle of two of float16, at which float32 has it exactly, to round to even.

OpInfo: half
Expected: 1.0009765625
"""

import torch

x = torch.tensor(1 + 2**-11 + 2**-40, dtype=torch.float64)
print(x.half().item())
