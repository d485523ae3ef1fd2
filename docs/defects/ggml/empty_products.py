"""A product over nothing aborts, and an empty batch divides by zero

Ledger: bmm forward, bmm gradient, dot forward, dot gradient, linear forward, linear gradient, matmul forward,
    matmul gradient, outer_product forward, outer_product gradient, conv3d forward, conv3d gradient,
    scaled_dot_product_attention forward, scaled_dot_product_attention gradient
Expected:
    mul_mat over nothing [0.0, 0.0, 0.0, 0.0]
    mul_mat of no matrices []
    conv_3d of no images []
    flash_attn_ext of no sequences []
"""

import ctypes

import numpy as np
from preamble import computed, ggml, outcome, tensor


def empty(*shape, dtype="float32"):
    return tensor(np.zeros(shape), dtype)


def conv():
    numbers = (1, 1, 1, 0, 0, 0, 1, 1, 1)
    return ggml("conv_3d", empty(2, 2, 2, 2, dtype="float16"), empty(0, 3, 3, 3), ctypes.c_int64(2), *numbers)


q, k = empty(0, 2, 3, 8), empty(0, 2, 3, 8, dtype="float16")
print("mul_mat over nothing", outcome(lambda: computed(ggml("mul_mat", empty(2, 0), empty(2, 0))).tolist()))
print("mul_mat of no matrices", outcome(lambda: computed(ggml("mul_mat", empty(0, 2, 3), empty(0, 2, 3))).tolist()))
print("conv_3d of no images", outcome(lambda: computed(conv()).tolist()))
print(
    "flash_attn_ext of no sequences",
    outcome(lambda: computed(ggml("flash_attn_ext", q, k, k, None, 1.0, 0.0, 0.0)).tolist()),
)
