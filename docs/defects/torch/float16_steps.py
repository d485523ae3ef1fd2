"""In float16 AdamW takes no step where its second moment overflows; nor is the gradient of a weighted loss a number

The moment, 105,000, is stored before the step is made of it. The gradient of binary_cross_entropy_with_logits to its
target is formed before it is multiplied by the cotangent.

Ledger: opt_step_adamw forward, bce_with_logits gradient
Expected:
    AdamW -0.001
    target 9e+03
"""

import torch
from torch.nn.functional import binary_cross_entropy_with_logits

x = torch.zeros(1, dtype=torch.float16, requires_grad=True)
x.grad = torch.full((1,), 10240.0, dtype=torch.float16)
torch.optim.AdamW([x], lr=0.001, eps=1e-4).step()
print(f"AdamW {x.item():.3g}")
logit, weight = (torch.full((1,), v, dtype=torch.float16) for v in (-300.0, 300.0))
target = torch.zeros(1, dtype=torch.float16, requires_grad=True)
loss = binary_cross_entropy_with_logits(logit, target, pos_weight=weight)
loss.backward(torch.tensor(0.1, dtype=torch.float16))
print(f"target {target.grad.item():.1g}")
