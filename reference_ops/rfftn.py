"""rfftn: the first half of the discrete Fourier transform of real numbers along several axes, as two planes.

Shapes: x any; `dim` names the axes, or is None for all; the outputs re and im with floor(n / 2) + 1 along the last of
them, n being the size of x there. norm "forward" divides by the number of elements that are added up, "ortho" by its
root.
Gradient: the real part of the inverse transform of g, 0 for the other half, scaled as the adjoint is.
Source: Sorensen, Jones, Heideman, Burrus, Real-valued fast Fourier transform algorithms (1987).
PyTorch: torch.fft.rfftn, torch.fft.rfft2. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._axes import Dim, axes
from opproof.reference_ops._fourier import ADJOINT, half_adjoint, transformed_along, wide

OUTPUTS = ("re", "im")
TRAITS = ("rowwise", "long sum")


def forward(x: Array, *, dim: Dim, norm: str = "backward") -> tuple[Array, Array]:
    *others, last = axes(dim, x.ndim)
    half = np.fft.rfft(x, axis=last, norm=norm)  # type: ignore[arg-type]
    return transformed_along(half.real, half.imag, others, norm, inverse=False)


def vjp(g: tuple[Array, Array], y: Any, x: Array, *, dim: Dim, norm: str = "backward") -> Array:
    *others, last = axes(dim, x.ndim)
    back = transformed_along(g[0], g[1], others, ADJOINT[norm], inverse=True)
    return half_adjoint(back, x.shape[last], last, norm)


def torch(torch: Any, x: Any, *, dim: Dim, norm: str = "backward") -> Any:
    wide(x)
    y = torch.fft.rfftn(x, dim=axes(dim, x.ndim), norm=norm)
    return y.real, y.imag
