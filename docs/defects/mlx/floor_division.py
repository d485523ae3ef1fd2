"""floor_divide is the floor of the rounded quotient: one too many just below an integer

Ledger: floor_divide forward
Expected:
    bfloat16 8.0
    float32 641005.0
"""

import mlx.core as mx

mx.set_default_device(mx.cpu)
print("bfloat16", mx.floor_divide(mx.array(8.9375, mx.bfloat16), mx.array(0.99609375, mx.bfloat16)).item())
print("float32", mx.floor_divide(mx.array(-9914956.0), mx.array(-15.467806)).item())
