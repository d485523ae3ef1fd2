"""irfft: the real numbers along `dim` of which the first half of the Fourier transform is given, as two planes.

Shapes: y_j = sum x_k exp(2πi jk / n) / n with x = re + i im, its other half mirrored and conjugated; re and im alike,
any; y has n elements along `dim`, or 2 (m - 1) of m that are given. Of too few the missing ones are 0; of too many the
last are left out. im counts for nothing at 0, and in the middle of an even n. norm "ortho" divides by √n, "forward" by
nothing.
Gradient: the first half of the transform of g, twice what stands in the other half too, scaled as the adjoint is.
Source: Sorensen, Jones, Heideman, Burrus, Real-valued fast Fourier transform algorithms (1987).
PyTorch: torch.fft.irfft, torch.fft.hfft (of im turned, norm the other one). ONNX: none. ggml: none.
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops._fourier import real_of_half, real_of_half_adjoint, wide

SIGNATURE = "(...),(...)"
TRAITS = ("rowwise", "long sum")


def forward(re: Array, im: Array, *, n: int | None = None, dim: int = -1, norm: str = "backward") -> Array:
    return real_of_half(re, im, n, dim, norm)


def vjp(
    g: Array, y: Array, re: Array, im: Array, *, n: int | None = None, dim: int = -1, norm: str = "backward"
) -> tuple[Array, Array]:
    return real_of_half_adjoint(g, re.shape, dim, norm)


def torch(torch: Any, re: Any, im: Any, *, n: int | None = None, dim: int = -1, norm: str = "backward") -> Any:
    wide(re, im)
    return torch.fft.irfft(torch.complex(re, im), n=n, dim=dim, norm=norm)
