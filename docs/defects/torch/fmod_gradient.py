"""The gradient of fmod is an integer off where the quotient rounds to one

1 is 9 times 0.1 (a little more than a tenth) and 0.09999999999999995, but 1 / 0.1 rounds to 10. remainder's is right.

OpInfo: fmod
Expected: -9.0 -9.0
"""

import torch

x = torch.tensor(1.0, dtype=torch.float64)
for f in (torch.remainder, torch.fmod):
    b = torch.tensor(0.1, dtype=torch.float64, requires_grad=True)
    f(x, b).backward()
    print(b.grad.item(), end=" ")
