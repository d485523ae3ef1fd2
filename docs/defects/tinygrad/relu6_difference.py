"""relu6 is relu(x) - relu(x - 6), which rounds to 0 or 8 where x is large

hardswish and its gradient, and hardsigmoid, are made likewise.

Ledger: relu6 forward, hardswish forward, hardswish gradient, hardsigmoid forward
Expected:
    relu6 6.0
    hardsigmoid 1.0
    hardswish 9992.0
    gradient of hardswish 1.0
"""

from tinygrad import Tensor, dtypes
from tinygrad.helpers import DEV

DEV.value = "CPU"

x = Tensor([9992.0], dtype=dtypes.half).realize()
print("relu6", x.relu6().numpy().item())
print("hardsigmoid", x.hardsigmoid().numpy().item())
print("hardswish", x.hardswish().numpy().item())
y = Tensor([3e7])
print("gradient of hardswish", y.hardswish().sum().gradient(y)[0].item())
