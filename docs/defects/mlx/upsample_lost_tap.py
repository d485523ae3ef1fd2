"""Cubic Upsample loses a tap where a position falls just below a cell

It takes floor(i) and floor(i + 1) of a float32 i, which at 1.99999988 are 1 and 3. The image is 1 everywhere.

Ledger: upsample_bicubic forward, upsample_bicubic gradient
Expected: [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
"""

import mlx.core as mx
import mlx.nn as nn

mx.set_default_device(mx.cpu)
y = nn.Upsample((7 / 5,), mode="cubic", align_corners=False)(mx.ones((1, 5, 1)))
print([round(v, 2) for v in y.flatten().tolist()])
