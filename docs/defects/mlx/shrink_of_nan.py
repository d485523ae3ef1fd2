"""hard_shrink and softshrink turn NaN into 0

Ledger: hardshrink forward, softshrink forward
Expected: nan nan
"""

import mlx.core as mx
import mlx.nn as nn

mx.set_default_device(mx.cpu)
x = mx.array([float("nan")])
print(nn.hard_shrink(x).item(), nn.softshrink(x).item())
