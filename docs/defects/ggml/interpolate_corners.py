"""ggml_interpolate finds places by a quotient of float32: with align_corners the last cell is not the last

Of 8 cells to 9 the last place is 6.9999995, which mixes in the cell before; of 270 to 9 the fourth cell is 89.

Ledger: upsample_bilinear forward, upsample_bicubic forward, upsample_nearest forward
Expected:
    bilinear 0.0
    nearest 90.0
"""

import ctypes

import numpy as np
from preamble import computed, ggml, tensor

BILINEAR_ALIGN_CORNERS, NEAREST = 1 | 1 << 8, 0
sizes = [ctypes.c_int64(n) for n in (9, 1, 1, 1)]
x = np.zeros((1, 1, 1, 8))
x[..., 6] = 1e6
print("bilinear", computed(ggml("interpolate", tensor(x), *sizes, BILINEAR_ALIGN_CORNERS)).tolist()[-1])
x = np.arange(270).reshape(1, 1, 1, 270)
print("nearest", computed(ggml("interpolate", tensor(x), *sizes, NEAREST)).tolist()[3])
