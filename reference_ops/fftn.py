"""fftn: the discrete Fourier transform along several axes, or its inverse, of complex numbers as two planes.

Shapes: re and im alike, any; `dim` names the axes, or is None for all; the outputs re and im as them. norm "backward"
divides the inverse by the number n of elements that are added up, "forward" the other one, "ortho" either by √n.
Gradient: the transform the other way of g, scaled as the adjoint is.
Source: Cooley, Tukey, An algorithm for the machine calculation of complex Fourier series (1965).
PyTorch: torch.fft.fftn, torch.fft.ifftn, torch.fft.fft2, torch.fft.ifft2. ONNX: none. ggml: none.
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops._axes import Dim, axes
from opproof.reference_ops._fourier import ADJOINT, transformed_along, wide

SIGNATURE = "(...),(...)"
OUTPUTS = ("re", "im")
TRAITS = ("rowwise", "long sum")


def forward(re: Array, im: Array, *, dim: Dim, norm: str = "backward", inverse: bool = False) -> tuple[Array, Array]:
    return transformed_along(re, im, axes(dim, re.ndim), norm, inverse)


def vjp(
    g: tuple[Array, Array], y: Any, re: Array, im: Array, *, dim: Dim, norm: str = "backward",
    inverse: bool = False,
) -> tuple[Array, Array]:  # fmt: skip
    return transformed_along(g[0], g[1], axes(dim, re.ndim), ADJOINT[norm], not inverse)


def torch(torch: Any, re: Any, im: Any, *, dim: Dim, norm: str = "backward", inverse: bool = False) -> Any:
    wide(re, im)
    y = (torch.fft.ifftn if inverse else torch.fft.fftn)(torch.complex(re, im), dim=axes(dim, re.ndim), norm=norm)
    return y.real, y.imag
