"""fft: the discrete Fourier transform along `dim`, or its inverse, of complex numbers as two planes.

Shapes: y_k = sum x_j exp(-2πi jk / n) with x = re + i im; re and im alike, any;
the outputs re and im as them. norm "backward" divides the inverse by n, "forward" the
other one, "ortho" either by √n.
Gradient: the transform the other way of g, scaled as the adjoint is.
Source: Cooley, Tukey, An algorithm for the machine calculation of complex Fourier series (1965).
PyTorch: torch.fft.fft, torch.fft.ifft (of complex tensors). ONNX: DFT. ggml: none.
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops._fourier import ADJOINT, transformed, wide

SIGNATURE = "(...),(...)"
OUTPUTS = ("re", "im")
TRAITS = ("rowwise", "long sum")


def forward(
    re: Array, im: Array, *, dim: int = -1, norm: str = "backward", inverse: bool = False
) -> tuple[Array, Array]:
    return transformed(re, im, dim, norm, inverse)


def vjp(
    g: tuple[Array, Array], y: Any, re: Array, im: Array, *, dim: int = -1, norm: str = "backward",
    inverse: bool = False,
) -> tuple[Array, Array]:  # fmt: skip
    return transformed(g[0], g[1], dim, ADJOINT[norm], not inverse)


def torch(torch: Any, re: Any, im: Any, *, dim: int = -1, norm: str = "backward", inverse: bool = False) -> Any:
    wide(re, im)
    y = (torch.fft.ifft if inverse else torch.fft.fft)(torch.complex(re, im), dim=dim, norm=norm)
    return y.real, y.imag
