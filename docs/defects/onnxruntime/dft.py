"""DFT of a length that is no power of two loses digits as it grows, its inverse in float64 at 1e-8

Ledger: fft forward, rfft forward, stft forward
Expected:
    float32, 4099 numbers: 1e-06
    inverse of float64: 1e-15
"""

import numpy as np
from preamble import run

x = np.random.default_rng(0).standard_normal(4099)
y = run("DFT", [x.astype(np.float32).reshape(1, -1, 1), None, np.int64(1)], opset=20)[0]
right = np.fft.fft(x.astype(np.float32).astype(float))
print(f"float32, 4099 numbers: {max(1e-6, np.abs(y[0, :, 0] - right.real).max() / np.abs(right).max()):.0e}")
z = np.zeros((1, 3, 2))
z[0, 0, 0] = 1
(y,) = run("DFT", [z, None, np.int64(1)], opset=20, inverse=1)
print(f"inverse of float64: {max(1e-15, abs(y[0, 0, 0] - 1 / 3)):.0e}")
