"""The gradient of interpolate to the nearest raises where an axis keeps its size

The scale is 1 then, 1 * arange is arange, and the cast of its float to an integer and back is folded: what is left
indexes by a float.

Ledger: upsample_nearest gradient
Expected: [[2.0, 2.0], [2.0, 2.0]]
"""

from tinygrad import Tensor
from tinygrad.helpers import DEV

DEV.value = "CPU"

x = Tensor([[1.0, 2.0], [3.0, 4.0]])
y = x.interpolate((2, 4), mode="nearest")
try:
    print(y.gradient(x, gradient=Tensor.ones(2, 4).contiguous().realize())[0].tolist())
except RuntimeError as error:
    print(str(error)[:31])
