"""The gradient of norm(p) in 16 bits rounds p - 1: a bias that no rounding of results has

A power of the norm is a factor of the gradient; its exponent 2.00864 becomes 2 in bfloat16, 2.0078 in float16, so all
gradients of a row are too large or too small together. pow of the same tensor rounds nothing.

Ledger: norm gradient
Expected:
    float16 0.0 %
    bfloat16 0.0 %
"""

import torch

torch.manual_seed(0)
for dtype in (torch.float16, torch.bfloat16):
    x = (1 + torch.rand(4000, 9)).to(dtype).requires_grad_()
    wide = x.detach().double().requires_grad_()
    for v in (x, wide):
        v.norm(3.00864, -1).sum().backward()
    mean = (x.grad.double() / wide.grad - 1).mean().item()
    print(str(dtype)[6:], f"{abs(100 * mean):.1f} %")
