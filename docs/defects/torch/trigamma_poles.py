"""trigamma is finite at its poles

At 0 it is infinite, at -1 it is the square of pi over the rounded sine of pi.

OpInfo: digamma
Expected: [inf, inf, inf]
"""

import torch

print(torch.polygamma(1, torch.tensor([0.0, -1.0, -2.0], dtype=torch.float64)).tolist())
