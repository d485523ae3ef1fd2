"""The first step of AdamW is off by 7e-6: 1 - 0.999 is taken in float32

Ledger: opt_step_adamw forward
Expected: -1.00000e-03
"""

import mlx.core as mx
from mlx import optimizers

mx.set_default_device(mx.cpu)
adamw = optimizers.AdamW(0.001, bias_correction=True)
print(f"{adamw.apply_gradients({'x': mx.array(1.0)}, {'x': mx.array(0.0)})['x'].item():.5e}")
