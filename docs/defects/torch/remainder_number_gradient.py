"""remainder of a number and a tensor has no gradient

That of two tensors has.

OpInfo: remainder, __rmod__
Expected:
    tensor -2.0
    number -2.0
"""

import torch

for name, a in (("tensor", torch.tensor(5.0)), ("number", 5.0)):
    b = torch.tensor(2.0, requires_grad=True)
    y = torch.remainder(a, b)
    y.backward()
    print(name, b.grad.item())
