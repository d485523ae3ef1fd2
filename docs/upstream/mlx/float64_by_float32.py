"""sigmoid, exp and the optimisers of float64 are computed in float32

Ledger: sigmoid forward, sigmoid gradient, opt_step_adamw forward
Upstream: https://github.com/ml-explore/mlx/issues/3047
Expected: 0.668187772168
"""

import mlx.core as mx

mx.set_default_device(mx.cpu)
print(f"{mx.sigmoid(mx.array(0.7, mx.float64)).item():.12f}")
