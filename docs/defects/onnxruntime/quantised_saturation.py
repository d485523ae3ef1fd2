"""Products of u8 and i8 saturate: 255 * 127 + 255 * 127 is 32767 in the sum of a pair

vpmaddubsw adds pairs in 16 bits, where the processor has no VNNI.

Ledger: matmul_integer forward, conv_integer forward, qlinear_conv forward, qlinear_matmul forward
Unless: vnni
Upstream: https://onnxruntime.ai/docs/performance/model-optimizations/quantization.html
Expected: 518160
"""

import numpy as np
from preamble import run

print(run("MatMulInteger", [np.full((16, 16), 255, np.uint8), np.full((16, 16), 127, np.int8)])[0][0, 0])
