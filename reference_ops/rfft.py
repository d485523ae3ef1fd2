"""rfft: the first half of the discrete Fourier transform of real numbers along `dim`, as two planes.

Shapes: y_k = sum x_j exp(-2πi jk / n) for k up to n / 2; x any, the outputs re and im with
floor(n / 2) + 1 along `dim`.
norm "forward" divides by n, "ortho" by √n.
Gradient: the real part of the inverse transform of g, 0 for the other half, scaled as the adjoint is.
Source: Sorensen, Jones, Heideman, Burrus, Real-valued fast Fourier transform algorithms (1987).
PyTorch: torch.fft.rfft. ONNX: DFT (onesided). ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._fourier import half_adjoint, wide

OUTPUTS = ("re", "im")
TRAITS = ("rowwise", "long sum")


def forward(x: Array, *, dim: int = -1, norm: str = "backward") -> tuple[Array, Array]:
    y = np.fft.rfft(x, axis=dim, norm=norm)  # type: ignore[arg-type]
    return y.real, y.imag


def vjp(g: tuple[Array, Array], y: Any, x: Array, *, dim: int = -1, norm: str = "backward") -> Array:
    return half_adjoint(g, x.shape[dim], dim, norm)


def torch(torch: Any, x: Any, *, dim: int = -1, norm: str = "backward") -> Any:
    wide(x)
    y = torch.fft.rfft(x, dim=dim, norm=norm)
    return y.real, y.imag
