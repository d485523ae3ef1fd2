"""Upsample of float16 gives float32

Ledger: upsample_bilinear forward, upsample_bicubic forward
Expected: mlx.core.float16
"""

import mlx.core as mx
import mlx.nn as nn

mx.set_default_device(mx.cpu)
print(nn.Upsample(2, mode="linear", align_corners=False)(mx.ones((1, 4, 1), dtype=mx.float16)).dtype)
