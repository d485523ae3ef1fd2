"""cross_entropy multiplies log-probabilities with a one-hot row, and 0 times -inf is NaN in float16

In float32 the product becomes a choice, and the loss is what it should be.

Ledger: cross_entropy forward
Expected:
    float16 1.3
    float32 1.3
"""

from tinygrad import Tensor, dtypes
from tinygrad.helpers import DEV

DEV.value = "CPU"

for name, dtype in (("float16", dtypes.half), ("float32", dtypes.float)):
    x = Tensor([[float("-inf"), 1.0, 2.0]], dtype=dtype).realize()
    print(f"{name} {x.cross_entropy(Tensor([1]).realize()).numpy().item():.1f}")
