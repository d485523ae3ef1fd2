"""irfftn: the real numbers of which the first half of the transform along several axes is given, as two planes.

Shapes: re and im alike, any; `dim` names the axes, or is None for all. It is the inverse transform along all but the
last of them, then irfft along the last, which has n elements in y, or 2 (m - 1) of m that are given. norm "ortho"
divides by the root of the number of elements that are added up, "forward" by nothing.
Gradient: the adjoints of these steps in turn.
Source: Sorensen, Jones, Heideman, Burrus, Real-valued fast Fourier transform algorithms (1987).
PyTorch: torch.fft.irfftn, torch.fft.irfft2, torch.fft.hfftn (of im turned, norm the other one). ONNX: none. ggml: none.
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops._axes import Dim, axes
from opproof.reference_ops._fourier import ADJOINT, real_of_half, real_of_half_adjoint, transformed_along, wide

SIGNATURE = "(...),(...)"
TRAITS = ("rowwise", "long sum")


def forward(re: Array, im: Array, *, n: int | None = None, dim: Dim, norm: str = "backward") -> Array:
    *others, last = axes(dim, re.ndim)
    re, im = transformed_along(re, im, others, norm, inverse=True)
    return real_of_half(re, im, n, last, norm)


def vjp(
    g: Array, y: Array, re: Array, im: Array, *, n: int | None = None, dim: Dim, norm: str = "backward"
) -> tuple[Array, Array]:
    *others, last = axes(dim, re.ndim)
    planes = real_of_half_adjoint(g, re.shape, last, norm)
    return transformed_along(*planes, others, ADJOINT[norm], inverse=False)


def torch(torch: Any, re: Any, im: Any, *, n: int | None = None, dim: Dim, norm: str = "backward") -> Any:
    wide(re, im)
    dims = axes(dim, re.ndim)
    sizes = None if n is None else [*(re.shape[d] for d in dims[:-1]), n]
    return torch.fft.irfftn(torch.complex(re, im), s=sizes, dim=dims, norm=norm)
