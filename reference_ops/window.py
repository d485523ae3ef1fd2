"""window: x times a window function of its places along the last axis, as before a Fourier transform.

Shapes: x (..., n); y as x. With N = n where periodic, else n - 1, and t = k / N of the place k, the factor is
sum (-1)^i p_i cos(2πi t) for "cosines", of which hann (1/2, 1/2), blackman (0.42, 0.5, 0.08) and nuttall (0.3635819,
0.4891775, 0.1365995, 0.0106411) are three; "hamming" has (p, 1 - p). "bartlett" is 1 - |2 t - 1|, "cosine"
sin(π (k + 1/2) / (N + 1)), "exponential" exp(-N |t - 1/2| / p), "gaussian" exp(-(N (t - 1/2) / p)² / 2), and "kaiser"
I0(p √(1 - (2 t - 1)²)) / I0(p). One place alone has 1.
Gradient: g times the factors.
Source: Harris, On the Use of Windows for Harmonic Analysis with the Discrete Fourier Transform (1978).
PyTorch: torch.signal.windows (of no tensor). ONNX: HannWindow, HammingWindow (p = 25/46), BlackmanWindow. ggml: none.
"""

import math
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import bessel_i0

SIGNATURE = "(...,n)"
ANALYTIC = True
_COSINES = {
    "hann": (0.5, 0.5),
    "blackman": (0.42, 0.5, 0.08),
    "nuttall": (0.3635819, 0.4891775, 0.1365995, 0.0106411),
}
_Given = float | tuple[float, ...]


def _factors(like: Array, kind: str, periodic: bool, p: _Given) -> Array:
    """The factors (n,), computed as a kernel does, so that noise knows of their rounding."""
    n, dtype = like.shape[-1], np.real(like).dtype
    last = n if periodic else n - 1
    if n < 2:
        return np.ones(n, dtype=dtype, like=like)
    place, one = np.arange(n).astype(dtype), np.ones((), dtype=dtype, like=like)
    if kind == "cosine":
        return np.sin(one * (math.pi / (last + 1)) * (place + 0.5))  # type: ignore[no-any-return]
    centred = one * (2 / last) * place - 1
    if kind == "bartlett":
        return 1 - np.abs(centred)  # type: ignore[no-any-return]
    if isinstance(p, float):
        if kind == "exponential":
            return np.exp(-np.abs(centred) * (last / 2 / p))  # type: ignore[no-any-return]
        if kind == "gaussian":
            return np.exp(-np.square(centred * (last / 2 / p)) / 2)  # type: ignore[no-any-return]
        if kind == "kaiser":
            round_ = np.sqrt(one * (4 / last / last) * (place * (last - place)))
            return bessel_i0(round_ * p) / bessel_i0(one * p)
    terms = (p, 1 - p) if isinstance(p, float) else p
    return _sum_cosines(one * (2 * math.pi / last) * place, _COSINES.get(kind, terms))


def _sum_cosines(angles: Array, terms: tuple[float, ...]) -> Array:
    total = np.ones_like(angles) * terms[0]
    for i, term in enumerate(terms[1:], 1):
        total = total + np.cos(angles * i) * ((-1) ** i * term)
    return total


def forward(x: Array, *, kind: str = "hann", periodic: bool = False, p: _Given = 0.5) -> Array:
    return x * _factors(x, kind, periodic, p)


def vjp(g: Array, y: Array, x: Array, *, kind: str = "hann", periodic: bool = False, p: _Given = 0.5) -> Array:
    return g * _factors(g, kind, periodic, p)


def torch(torch: Any, x: Any, *, kind: str = "hann", periodic: bool = False, p: _Given = 0.5) -> Any:
    dtype = torch.float64 if x.dtype == torch.float64 else torch.float32
    given = {"exponential": "tau", "gaussian": "std", "kaiser": "beta", "hamming": "alpha", "cosines": "a"}
    name = {"hamming": "general_hamming", "cosines": "general_cosine"}.get(kind, kind)
    more = {given[kind]: p} if kind in given else {}
    factors = getattr(torch.signal.windows, name)(x.shape[-1], sym=not periodic, dtype=dtype, **more)
    return (x.to(dtype) * factors).to(x.dtype)
