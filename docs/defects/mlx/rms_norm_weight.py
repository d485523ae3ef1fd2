"""rms_norm of float16 stores the normalised x before the weight multiplies it, and loses the digits of small ones

Ledger: rms_norm forward
Expected: 0.0061
"""

import mlx.core as mx

mx.set_default_device(mx.cpu)
x = mx.array([60000.0, 60000.0, 60000.0, 0.0061], mx.float16)
weight = mx.array([1.0, 1.0, 1.0, 51968.0], mx.float16)  # 60000 / sqrt(4 / 3)
print(f"{mx.fast.rms_norm(x, weight, 1e-5)[3].item():.2g}")
