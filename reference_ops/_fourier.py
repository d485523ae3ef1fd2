"""Fourier transforms of two real planes, and what the adjoint of one is called."""

from collections.abc import Iterable
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


def transformed_along(re: Array, im: Array, dims: Iterable[int], norm: str, inverse: bool) -> tuple[Array, Array]:
    """The transform along each of the axes, one behind the other."""
    for dim in dims:
        re, im = transformed(re, im, dim, norm, inverse)
    return re, im


def real_of_half(re: Array, im: Array, n: int | None, dim: int, norm: str) -> Array:
    """The n real numbers whose transform begins with re + i im: what is missing is 0, what is too much is left out.

    Its first number is real, and of an even n the one in the middle: what im has there counts for nothing.
    """
    n = _size_of_whole(n, re.shape[dim])
    re, im = (np.moveaxis(_fitted(plane, n // 2 + 1, dim), dim, -1) for plane in (re, im))
    im = im * _mirrored(n).astype(im.dtype)
    behind = slice(n - n // 2 - 1, 0, -1)
    re, im = np.concatenate([re, re[..., behind]], axis=-1), np.concatenate([im, -im[..., behind]], axis=-1)
    return np.moveaxis(transformed(re, im, -1, norm, inverse=True)[0], -1, dim)


def real_of_half_adjoint(g: Array, shape: tuple[int, ...], dim: int, norm: str) -> tuple[Array, Array]:
    """The gradients of the planes re and im, of this shape, of which `real_of_half` made as many numbers as g has."""
    n = g.shape[dim]
    half = np.fft.rfft(np.moveaxis(g, dim, -1), axis=-1, norm=ADJOINT[norm])  # type: ignore[arg-type]
    twice = _mirrored(n)
    planes = half.real * (1 + twice).astype(g.dtype), half.imag * (2 * twice).astype(g.dtype)
    re, im = (_fitted(np.moveaxis(plane, -1, dim), shape[dim], dim) for plane in planes)
    return re, im


def _mirrored(n: int) -> Array:
    """Of the first half of a transform of n numbers: 1 for those that stand in the other half too, else 0."""
    place = np.arange(n // 2 + 1)
    return ((place > 0) & (2 * place != n)).astype(np.float64)  # type: ignore[no-any-return]


def _size_of_whole(n: int | None, half: int) -> int:
    """As many numbers as are asked for, or the even number that has this half."""
    n = 2 * (half - 1) if n is None else n
    if n < 1:
        raise ValueError(f"{n} numbers have no transform")
    return n


def _fitted(plane: Array, size: int, dim: int) -> Array:
    """The plane with `size` elements along `dim`: the first ones, or zeros behind them."""
    if plane.shape[dim] >= size:
        return plane[tuple(slice(size) if axis == dim % plane.ndim else slice(None) for axis in range(plane.ndim))]
    widths = [(0, 0)] * plane.ndim
    widths[dim] = (0, size - plane.shape[dim])
    return np.pad(plane, widths)
