"""The float32 gradient of layer_norm of a narrow row does not add up to 0

It is g a + x b + c, with b and c that grow as the cube of 1 / spread and cancel. The gradients of a row of two are
each other's negative.

Ledger: layer_norm gradient
Expected: 228.546 -228.546
"""

import torch
import torch.nn.functional as F

x = torch.tensor([[1.0, 1.001]], requires_grad=True)
F.layer_norm(x, (2,)).backward(torch.tensor([[0.3, -1.2]]))
print(f"{x.grad[0, 0]:.3f} {x.grad[0, 1]:.3f}")
