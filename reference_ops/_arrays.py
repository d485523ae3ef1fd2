"""What several operators share: the array type, broadcasting undone, and functions NumPy lacks.

Everything here, as every reference, goes through NumPy's dispatch (ufuncs and array functions),
so that the same code runs on float64, complex128, float32 and on the harness's noisy arrays.
New arrays are made with ``np.zeros(shape, like=x)`` or ``np.zeros_like`` for the same reason.
"""

import numpy as np

from opproof.vocabulary.arrays import Array


def unbroadcast(g: Array, shape: tuple[int, ...]) -> Array:
    """Sum `g` over the axes along which a tensor of `shape` was broadcast, back to `shape`."""
    lead = g.ndim - len(shape)
    axes = tuple(range(lead)) + tuple(lead + i for i, n in enumerate(shape) if n == 1 and g.shape[lead + i] != 1)
    return np.reshape(np.sum(g, axis=axes), shape) if axes else g


def rounding(y: Array, exact: Array) -> Array:
    """What a saved output `y` has lost of its `exact` value, 0 for infinities and NaN: 0 throughout, but under noise.

    A gradient that some library has from y, and the reference without its roundings, is honest either way.
    """
    known = np.isfinite(exact) & np.isfinite(y)
    return np.where(known, y, 0) - np.where(known, exact, 0)


def unseen(mask: Array, shape: tuple[int, ...]) -> Array:
    """Where a tensor of `shape` is masked at every place that it is broadcast to."""
    return unbroadcast(1 - mask.astype(np.float64), shape) == 0  # type: ignore[no-any-return]


def erf(x: Array) -> Array:
    """Error function, for real and complex x (scipy.special.erf)."""
    from scipy import special

    return special.erf(x)


def erfinv(x: Array) -> Array:
    """Inverse of the error function, real (scipy.special.erfinv)."""
    from scipy import special

    return special.erfinv(x)


def log_gamma(x: Array) -> Array:
    """Log |gamma(x)|, real (scipy.special.gammaln)."""
    from scipy import special

    return special.gammaln(x)


def digamma(x: Array) -> Array:
    """The derivative of log gamma, real (scipy.special.psi)."""
    from scipy import special

    return special.psi(x)


def trigamma(x: Array) -> Array:
    """The derivative of digamma for x > 0 (scipy.special.zeta(2, x))."""
    from scipy import special

    return special.zeta(2.0, x)


def bessel_i0(x: Array) -> Array:
    """Modified Bessel function of order 0 (scipy.special.i0)."""
    from scipy import special

    return special.i0(x)


def bessel_i1(x: Array) -> Array:
    """Modified Bessel function of order 1 (scipy.special.i1)."""
    from scipy import special

    return special.i1(x)


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x)), accurate and without overflow on both sides, real or complex."""
    negative = np.real(x) < 0
    e = np.exp(np.where(negative, x, -x))
    return np.where(negative, e, 1) / (1 + e)  # type: ignore[no-any-return]


def softplus(x: Array) -> Array:
    """log(1 + exp(x)), accurate and without overflow on both sides, real."""
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def nearest(distance: Array, shape: tuple[int, ...]) -> Array:
    """The smallest `distance` over the axes along which a tensor of `shape` was broadcast, in its shape."""
    lead = distance.ndim - len(shape)
    axes = tuple(range(lead)) + tuple(lead + i for i, n in enumerate(shape) if n == 1)
    return np.reshape(np.min(distance, axis=axes, initial=np.inf), shape) if axes else distance
