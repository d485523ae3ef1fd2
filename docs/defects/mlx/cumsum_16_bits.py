"""Running sums are kept in 16 bits: 1,025 ones in bfloat16 add up to 256

Ledger: cumsum forward, cumsum gradient
Upstream: https://github.com/ml-explore/mlx/pull/3907
Expected: 1024.0
"""

import mlx.core as mx

mx.set_default_device(mx.cpu)
print(mx.cumsum(mx.ones((1025,), dtype=mx.bfloat16))[-1].item())
