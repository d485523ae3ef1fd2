"""interpolate to the nearest takes i times a scale in float32, which may fall just below an integer

Of 3 elements to 123 the scale is 1 / 41, rounded down, and 41 times it stays below 1: the element before is taken.

Ledger: upsample_nearest forward, upsample_nearest gradient
Expected: 1.0 2.0
"""

from tinygrad import Tensor
from tinygrad.helpers import DEV

DEV.value = "CPU"

y = Tensor([0.0, 1.0, 2.0]).interpolate((123,), mode="nearest").tolist()
print(y[41], y[82])
