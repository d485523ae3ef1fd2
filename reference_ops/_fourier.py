"""Fourier transforms of two real planes, and what the adjoint of one is called."""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

#: The scaling under which the inverse transform is the adjoint of the transform under this one.
ADJOINT = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def transformed(re: Array, im: Array, dim: int, norm: str, inverse: bool) -> tuple[Array, Array]:
    """The transform of re + i im, each plane's own put together."""
    function = np.fft.ifft if inverse else np.fft.fft
    a, b = function(re, axis=dim, norm=norm), function(im, axis=dim, norm=norm)  # type: ignore[arg-type]
    return a.real - b.imag, a.imag + b.real


def half_adjoint(g: tuple[Array, Array], n: int, dim: int, norm: str) -> Array:
    """The gradient of the first half of a transform of n real numbers: its real part, what is left out being 0."""
    widths = [(0, 0)] * g[0].ndim
    widths[dim] = (0, n - g[0].shape[dim])
    re, im = (np.pad(plane, widths) for plane in g)
    return transformed(re, im, dim, ADJOINT[norm], inverse=True)[0]


def wide(*tensors: Any) -> None:
    """Raises NotImplementedError for f16 and bf16 tensors, of which PyTorch has no complex numbers on a CPU."""
    if any(t.element_size() < 4 for t in tensors):
        raise NotImplementedError("PyTorch has no complex numbers of f16 or bf16")
