"""The gradients of weights stop growing in 16 bits: convolutions, layer_norm

Convolutions add the gradient of the weight up in float16, one image after the other: of 20,000 images it is 64 in place
of 400. layer_norm adds that of the bias up so, row after row.

Ledger: conv1d gradient, conv2d gradient, conv2d_depthwise gradient, conv3d gradient, conv_transpose1d gradient,
    conv_transpose2d gradient, layer_norm gradient
Expected:
    conv1d 399.8
    layer_norm 4099
"""

import torch
import torch.nn.functional as F

x, g = torch.full((20000, 1, 3), 0.1), torch.full((20000, 1, 2), 0.1)
weight = torch.ones(1, 1, 2, dtype=torch.float16, requires_grad=True)
F.conv1d(x.half(), weight).backward(g.half())
print("conv1d", round(weight.grad[0, 0, 0].item(), 1))

bias = torch.zeros(5, dtype=torch.bfloat16, requires_grad=True)
rows = torch.randn(4099, 5, dtype=torch.bfloat16)
F.layer_norm(rows, (5,), bias=bias).backward(torch.ones_like(rows))
print("layer_norm", round(bias.grad[0].item()))
