"""In float16 AdamW with the eps that is its default makes NaN of parameters without gradients

eps = 1e-8 is rounded to float16, which makes it 0. Where no gradient has come yet, both moments are 0, and 0 / (0 +
eps) is to be 0. A larger eps, or steps in float32, avoid it.

Ledger: opt_step_adamw forward
Expected:
    [1.0, 0.999]
"""

import mlx.core as mx
from mlx import optimizers

adamw = optimizers.AdamW(0.001, weight_decay=0.0, bias_correction=True)
x = {"x": mx.ones(2, dtype=mx.float16)}
x = adamw.apply_gradients({"x": mx.array([0.0, 1.0], dtype=mx.float16)}, x)
print([round(v, 4) for v in x["x"].tolist()])
