"""A row of attention whose keys are all masked gives the mean of the values

The mask is a large finite number. PyTorch gives NaN or 0 for such a row, never a mean of what is masked.

Ledger: scaled_dot_product_attention forward, scaled_dot_product_attention gradient
Upstream: https://github.com/ml-explore/mlx/issues/2395
Expected: 0.0
"""

import mlx.core as mx

mx.set_default_device(mx.cpu)
q, k = mx.ones((1, 1, 1, 4)), mx.ones((1, 1, 3, 4))
v = mx.broadcast_to(mx.array([1.0, 2.0, 3.0])[None, None, :, None], (1, 1, 3, 4))
mask = mx.zeros((1, 1, 1, 3), dtype=mx.bool_)
print(mx.fast.scaled_dot_product_attention(q, k, v, scale=1.0, mask=mask)[0, 0, 0, 0].item())
