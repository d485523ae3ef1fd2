"""norm and var sum squares up in float16, where they overflow

Ledger: norm forward, std forward, batch_norm forward
Expected:
    norm 300.0
    std 900.0
"""

import mlx.core as mx

mx.set_default_device(mx.cpu)
print("norm", mx.linalg.norm(mx.array([300.0, 4.0]).astype(mx.float16)).item())
print("std", mx.std(mx.array([-900.0, 900.0]).astype(mx.float16)).item())
