"""interpolate to one row with align_corners is NaN: it divides by the output's size less one

Ledger: upsample_bilinear forward, upsample_bilinear gradient
Upstream: https://github.com/tinygrad/tinygrad/pull/17790
Expected: [0.0]
"""

from tinygrad import Tensor
from tinygrad.helpers import DEV

DEV.value = "CPU"

print(Tensor([0.0, 1.0, 2.0]).reshape(1, 1, 3).interpolate((1,), "linear", align_corners=True).flatten().tolist())
