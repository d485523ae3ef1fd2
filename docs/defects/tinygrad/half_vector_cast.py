"""Zeros of float16 are written as a cast between vectors of unlike sizes, which clang refuses

(half4)((float4){0.0f,0.0f,0.0f,0.0f}) comes where a gradient is 0 throughout.

Ledger: conv_transpose1d gradient, conv_transpose2d gradient
Expected: (1, 6, 2)
"""

import os
import subprocess

from tinygrad import Tensor, dtypes
from tinygrad.helpers import DEV

DEV.value = "CPU"

x = Tensor.ones(1, 6, 2, dtype=dtypes.half).contiguous().realize()
weight = Tensor.ones(6, 3, 1, dtype=dtypes.half).contiguous().realize()
y = x.conv_transpose2d(weight, stride=3, padding=1)
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # clang's words
step = Tensor.ones(*y.shape, dtype=dtypes.half).contiguous().realize()
try:
    print(y.gradient(x, gradient=step)[0].numpy().shape)
except subprocess.CalledProcessError:
    print("clang refuses")
