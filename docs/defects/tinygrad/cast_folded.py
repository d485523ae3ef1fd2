"""A cast to float16 and back is folded away: nothing is rounded, nor in the gradient

Ledger: cast forward, cast gradient
Upstream: https://github.com/tinygrad/tinygrad/issues/17208
Expected: [1.0, inf] [inf]
"""

from tinygrad import Tensor, dtypes
from tinygrad.helpers import DEV

DEV.value = "CPU"

x = Tensor([1.0001, 70000.0])
there_and_back = x.cast(dtypes.half).cast(dtypes.float)
slope = Tensor([1.0])
slope = x[:1].cast(dtypes.half).cast(dtypes.float).gradient(x, gradient=Tensor([70000.0]))[0][:1]
print(there_and_back.tolist(), slope.tolist())
