"""The gradient of conv_transpose1d has another shape where output_padding is larger than padding

Ledger: conv_transpose1d gradient, conv_transpose2d gradient
Expected: (1, 5, 2)
"""

import mlx.core as mx

mx.set_default_device(mx.cpu)
w = mx.ones((3, 2, 2))
loss = lambda x: mx.conv_transpose1d(x, w, stride=2, dilation=3, output_padding=2).sum()
print(mx.grad(loss)(mx.ones((1, 5, 2))).shape)
