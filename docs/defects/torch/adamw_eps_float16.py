"""In float16 AdamW with the eps that is its default makes NaN of parameters without gradients

eps = 1e-8 is rounded to float16, which makes it 0. Where no gradient has come yet, both moments are 0, and 0 / (0 +
eps) is to be 0. A larger eps, or steps in float32, avoid it.

Ledger: opt_step_adamw forward
Upstream: https://github.com/pytorch/pytorch/issues/147437
Expected:
    [1.0, 0.999]
"""

import torch

x = torch.ones(2, dtype=torch.float16, requires_grad=True)
x.grad = torch.tensor([0.0, 1.0], dtype=torch.float16)
torch.optim.AdamW([x], lr=0.001, weight_decay=0.0).step()
print([round(v, 4) for v in x.tolist()])
