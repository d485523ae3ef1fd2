"""What several operators share: the array type, broadcasting undone, and functions NumPy lacks.

Everything here, as every reference, goes through NumPy's dispatch (ufuncs and array functions),
so that the same code runs on float64, complex128, float32 and on the harness's noisy arrays.
New arrays are made with ``np.zeros(shape, like=x)`` or ``np.zeros_like`` for the same reason.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

#: Below it log |gamma(x)| is -log |x| to all digits of f64, above it x (log x - 1).
_LEAST, _MOST = 2.0**-1000, 2.0**1000
#: So near to a pole digamma is reflected.
_BESIDE = 2.0**-20
#: Beyond it exp(|x|) comes near the largest number of f64.
_FAR = 700.0


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


def erfc(x: Array) -> Array:
    """1 - erf(x) without cancellation, for real and complex x (scipy.special.erfc)."""
    from scipy import special

    return special.erfc(x)


def erfinv(x: Array) -> Array:
    """Inverse of the error function, real (scipy.special.erfinv)."""
    from scipy import special

    return special.erfinv(x)


def log_gamma(x: Array) -> Array:
    """Log |gamma(x)|, real (scipy.special.gammaln).

    SciPy's is infinite at 5.56e-309, where it is 709.8, and from 2.5563e305 on, which is finite up to 2.55998e305.
    """
    from scipy import special

    size = np.abs(x)
    least, most = size < _LEAST, (x > _MOST) & np.isfinite(x)  # to all digits -log |x| and x (log x - 1)
    ends = np.where(most, x, 1) * (np.log(np.where(most, x, 1)) - 1)
    ends = np.where(least, -np.log(np.where(least, size, 1)), ends)
    return np.where(least | most, ends, special.gammaln(x))


def digamma(x: Array) -> Array:
    """The derivative of log gamma, real (scipy.special.psi).

    Beside a pole below 0 SciPy's is off by 38 %: there it is reflected (Abramowitz, Stegun, 6.3.7).
    """
    from scipy import special

    beyond = x - np.rint(x)
    beside = (x < -0.5) & (np.abs(beyond) < _BESIDE) & (beyond != 0)
    off = np.where(beside, beyond, 0.25)
    reflected = special.psi(1 - np.where(beside, x, 0)) - np.pi / np.tan(np.pi * off)
    return np.where(beside, reflected, special.psi(x))


def trigamma(x: Array) -> Array:
    """The derivative of digamma (scipy.special.zeta(2, x), reflected below 0: Abramowitz, Stegun, 6.4.7)."""
    from scipy import special

    below = x < 0
    direct = special.zeta(2.0, np.where(below, 1 - x, x))
    sine = np.sin(np.pi * np.where(below, x - np.rint(x), 0.5))
    return np.where(below, (np.pi / sine) * (np.pi / sine) - direct, direct)


def bessel_i0(x: Array) -> Array:
    """Modified Bessel function of order 0 (scipy.special.i0)."""
    from scipy import special

    return _by_halves(special.i0, special.i0e, x)


def bessel_i1(x: Array) -> Array:
    """Modified Bessel function of order 1 (scipy.special.i1)."""
    from scipy import special

    return _by_halves(special.i1, special.i1e, x)


def _by_halves(function: Any, scaled: Any, x: Array) -> Array:
    """`function`, far out exp(|x| / 2) (exp(|x| / 2) `scaled`): exp(x) is infinite from 709.8 on, I0 from 713.99.

    `scaled` is `function` over exp(|x|).
    """
    far = np.abs(x) > _FAR
    half = np.exp(np.abs(np.where(far, x, 0)) / 2)
    found: Array = np.where(far, half * (half * scaled(x)), function(x))
    return found


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
