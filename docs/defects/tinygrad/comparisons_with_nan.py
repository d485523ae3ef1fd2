"""NaN is lost in maximum, min, relu and in what is made of comparisons

a >= b is not (a < b), which is true of NaN; relu6 and hardsigmoid are differences of two relus.

Ledger: ge forward, le forward, relu forward, relu6 forward, hardsigmoid forward, maximum forward, minimum
    forward, amin forward, argmax forward, argmin forward, sort forward, argsort forward, sign forward, topk
    forward, amax forward, max_pool1d forward, max_pool2d forward
Upstream: https://github.com/tinygrad/tinygrad/pull/1298
Expected:
    nan >= 1 False
    nan <= 1 False
    relu nan
    relu6 nan
    hardsigmoid nan
    sign nan
    maximum(1, nan) nan
    minimum(1, nan) nan
    min of (1, nan) nan
    argmax of (1, nan) 1
    argmin of (1, nan) 1
    sort of (nan, 1) [1.0, nan]
    argsort of (nan, 1) [1, 0]
    topk of (nan, 1) [1.0]
    max_pool2d of (1, nan) nan
"""

from tinygrad import Tensor
from tinygrad.helpers import DEV

DEV.value = "CPU"

nan, one = Tensor([float("nan")]), Tensor([1.0])
both, back = Tensor([1.0, float("nan")]), Tensor([float("nan"), 1.0])
print("nan >= 1", (nan >= one).item())
print("nan <= 1", (nan <= one).item())
for name in ("relu", "relu6", "hardsigmoid", "sign"):
    print(name, getattr(nan, name)().item())
print("maximum(1, nan)", one.maximum(nan).item())
print("minimum(1, nan)", one.minimum(nan).item())
print("min of (1, nan)", both.min().item())
print("argmax of (1, nan)", both.argmax().item())
print("argmin of (1, nan)", both.argmin().item())
print("sort of (nan, 1)", back.sort()[0].tolist())
print("argsort of (nan, 1)", back.argsort().tolist())
print("topk of (nan, 1)", back.topk(1, largest=False)[0].tolist())
print("max_pool2d of (1, nan)", both.reshape(1, 1, 1, 2).max_pool2d((1, 2)).item())
