"""NaN is lost: ReLU gives 0, and Max, MaxPooling and the reductions pass over it unless it comes first

Comparisons with NaN are false, so TopK leaves it in any place too.

Ledger: relu forward, maximum forward, minimum forward, amax forward, amin forward, max_pool1d forward,
    max_pool2d forward, topk forward
Expected:
    ReLU nan
    Max nan
    ReduceMax nan
    MaxPooling nan
    TopK nan
"""

import numpy as np
from preamble import aidge, f32, run

nan = np.float32("nan")
top = aidge.TopK()
top.get_operator().attr.axis = 0
print("ReLU", run(aidge.ReLU(), f32(nan))[0])
print("Max", run(aidge.Max(2), f32(1.0), f32(nan))[0])
print("ReduceMax", run(aidge.ReduceMax([0], True), f32(1.0, nan))[0])
print("MaxPooling", run(aidge.MaxPooling1D([2]), np.array([[[1.0, nan]]], np.float32)).item())
print("TopK", run(top, f32(1.0, nan, 3.0), np.array([1]))[0])
