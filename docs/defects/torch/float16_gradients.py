"""Gradients of float16 overflow in a factor, where the gradient is a number

The factors (cosh x, b a^(b-1), 2^x, y / x, x^-2, x^-1.5, exp(target)) are stored in float16 before they are
multiplied by the cotangent. A 16-bit kernel with float32 inside, as PyTorch's others have, would not overflow.

Ledger: cosh gradient, sinh gradient, div gradient, pow gradient, exp2 gradient, prod gradient, cumprod
    gradient, reciprocal gradient, rsqrt gradient, kl_div gradient, tan gradient
Expected:
    sinh 4.07e+04
    div -7.5e+03
    pow 8e+03
    exp2 5.63e+04
    prod 15
    cumprod 15
    reciprocal -1.11e+03
    rsqrt -447
    tan 1.07e+03
    kl_div 163
"""

import torch
from torch.nn.functional import kl_div

cases = [
    ("sinh", torch.sinh, [12.0], 0, 0.5),
    ("div", torch.div, [300.0, 0.002], 1, 1e-4),
    ("pow", torch.pow, [20.0, 5.0], 0, 0.01),
    ("exp2", torch.exp2, [15.08], 0, 2.35),
    ("prod", lambda *x: torch.prod(torch.stack(x), 0), [100.0, 30.0, 50.0], 0, 0.01),
    ("cumprod", lambda *x: torch.cumprod(torch.stack(x), 0)[2], [100.0, 30.0, 50.0], 0, 0.01),
    ("reciprocal", torch.reciprocal, [0.003], 0, 0.01),
    ("rsqrt", torch.rsqrt, [0.0005], 0, 0.01),
    ("tan", torch.tan, [1.5703125], 0, 0.00025),
    ("kl_div", lambda x, t: kl_div(x, t, reduction="none", log_target=True), [0.0, 12.0], 0, -0.001),
]
for name, f, x, of, g in cases:
    tensors = [torch.tensor(v, dtype=torch.float16, requires_grad=True) for v in x]
    f(*tensors).backward(torch.tensor(g, dtype=torch.float16))
    print(name, f"{tensors[of].grad.item():.3g}")
