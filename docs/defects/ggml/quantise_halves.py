"""The AVX2 quantisers of q8_0 and q8_1 round halves to even, their reference quantisers away from zero

Ledger: quantize forward, set_rows_quantized forward
Expected: 1
"""

import ctypes

import numpy as np
from preamble import call

x = np.zeros((1, 32), np.float32)
x[0, 0], x[0, 1] = 127.0, 0.5
blocks = np.zeros(34, np.uint8)
call(
    "quantize_row_q8_0",
    ctypes.c_void_p(x.ctypes.data),
    ctypes.c_void_p(blocks.ctypes.data),
    ctypes.c_int64(32),
    to=None,
)
print(blocks[2:].view(np.int8)[1])
