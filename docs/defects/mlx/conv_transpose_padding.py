"""conv_transpose1d of a padding beyond dilation (kernel - 1) raises, or cuts the wrong elements

Ledger: conv_transpose1d forward, conv_transpose2d forward
Expected: (1, 2, 3)
"""

import mlx.core as mx

mx.set_default_device(mx.cpu)
y = mx.conv_transpose1d(mx.ones((1, 2, 6)), mx.ones((3, 1, 6)), stride=3, padding=1)
mx.eval(y)
print(y.shape)
