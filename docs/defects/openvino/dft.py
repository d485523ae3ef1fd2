"""DFT: the axis, an input from opset 20 on, is not heeded, and a length that is no power of two loses digits

Ledger: fft forward, rfft forward, stft forward
Expected:
    along axis 2 True
    4099 numbers 1e-06
"""

import numpy as np
from preamble import run

numbers = np.random.default_rng(0)
x, z = (numbers.standard_normal(shape).astype(np.float32) for shape in ((2, 3, 5, 2), (1, 4099, 2)))
y = run("DFT", [x, None, np.int64(2)], opset=20, constant=(2,))[0]
print("along axis 2", np.allclose(y[..., 0], np.fft.fft(x[..., 0] + 1j * x[..., 1], axis=2).real, atol=1e-4))
got, right = run("DFT", [z], opset=17, axis=1)[0], np.fft.fft(z[0, :, 0] + 1j * z[0, :, 1])
print(f"4099 numbers {max(1e-6, np.abs(got[0, :, 0] - right.real).max() / np.abs(right).max()):.0e}")
