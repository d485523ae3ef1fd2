"""fftfreq: the frequencies of the places of a discrete Fourier transform of n numbers, d apart.

Shapes: y (n,): 0, 1 and so on to (n - 1) / 2, then the negative ones from -n / 2, each over n d; where onesided the
first n / 2 + 1, none negative. float32 since no input names another dtype.
Gradient: none, there is no input.
Source: NumPy's documentation of numpy.fft.fftfreq and rfftfreq.
PyTorch: torch.fft.fftfreq, torch.fft.rfftfreq. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array


def forward(*, n: int, d: float = 1.0, onesided: bool = False) -> Array:
    return (np.fft.rfftfreq if onesided else np.fft.fftfreq)(n, d).astype(np.float32)


def torch(torch: Any, *, n: int, d: float = 1.0, onesided: bool = False) -> Any:
    return (torch.fft.rfftfreq if onesided else torch.fft.fftfreq)(n, d, dtype=torch.float64).to(torch.float32)
