"""sigmoid, exp and the optimisers of float64 are computed in float32, and what is made of them

Ledger: sigmoid forward, sigmoid gradient, opt_step_adamw forward, erf gradient, logsigmoid forward,
    logsigmoid gradient, mish forward
Upstream: https://github.com/ml-explore/mlx/issues/3047
Expected:
    sigmoid 0.668187772168
    logsigmoid -0.403186048885
    mish 0.561148377644
    gradient of erf 0.691274860439
"""

import mlx.core as mx
import mlx.nn as nn

mx.set_default_device(mx.cpu)
x = mx.array(0.7, mx.float64)
print(f"sigmoid {mx.sigmoid(x).item():.12f}")
print(f"logsigmoid {nn.log_sigmoid(x).item():.12f}")
print(f"mish {nn.mish(x).item():.12f}")
print(f"gradient of erf {mx.grad(mx.erf)(x).item():.12f}")
