"""The largest of a window is -3.4e38 where all is -inf, and NaN is passed over

ggml_pool_1d and ggml_pool_2d begin with -FLT_MAX and keep what is larger. Where NaN stands in a window and something
else beside it, that is the result.

Ledger: max_pool1d forward, max_pool2d forward
Expected:
    [-inf nan]
    [-inf nan]
"""

from preamble import computed, ggml, tensor

inf, nan = float("inf"), float("nan")
row = [[-inf, -inf, nan, 1.0]]
print(computed(ggml("pool_1d", tensor(row), 0, 2, 2, 0)))
print(computed(ggml("pool_2d", tensor(row), 0, 2, 1, 2, 1, 0.0, 0.0)))
