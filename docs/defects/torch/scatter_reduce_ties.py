"""scatter_reduce drops half of a gradient where x, which it leaves out, is equal to the largest

With include_self=False the gradient of an extreme is shared with x where x is equal to it; x's share is then dropped.

Ledger: scatter_reduce gradient
Expected:
    x is another number 1.0
    x is the same number 1.0
"""

import torch

for name, value in (("another", 2.0), ("the same", 3.0)):
    src = torch.tensor([3.0], requires_grad=True)
    x, index = torch.tensor([value]), torch.tensor([0])
    torch.scatter_reduce(x, 0, index, src, "amax", include_self=False).backward()
    print(f"x is {name} number {src.grad.item()}")
