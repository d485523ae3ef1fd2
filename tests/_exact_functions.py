"""Functions of one number and their slopes to 60 digits, by mpmath: the truth for references at the ends of f64.

Formulas: the docstrings of the operators; slopes by hand from them, never by differences. Where a function or its slope
is a difference of nearly equal numbers it is written without the difference, or has digits enough left.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from mpmath import mp, mpf

Function = Callable[..., Any]

DIGITS = 60  # significant digits of all arithmetic
mp.dps = DIGITS
SELU_SCALE = mpf("1.0507009873554804934193349852946")
SELU_ALPHA = mpf("1.6732632423543772848170429916717")
QUICK = mpf(1.702)
HALF = mpf("0.5")
FAR = mpf(10) ** 5  # beyond it exp(-x²) is 0 in any format, and I0 and I1 are infinite
ASYMPTOTIC = mpf(10) ** 25  # from it on, and below its reciprocal, two terms of a series have 50 digits


class Exact(NamedTuple):
    """A function and its slope, of a number and the operator's parameters; parameters that are tried."""

    value: Function
    slope: Function
    params: tuple[Mapping[str, Any], ...] = ({},)


def sigmoid(x: Any) -> Any:
    """1 / (1 + e^-x), without a large exponential in a sum."""
    return 1 / (1 + mp.exp(-x)) if x >= 0 else mp.exp(x) / (1 + mp.exp(x))


def softplus(x: Any) -> Any:
    """log(1 + e^x), with its digits where e^x is far below 1."""
    return max(x, mpf(0)) + mp.log1p(mp.exp(-abs(x)))


def below(x: Any) -> Any:
    """The share of a normal distribution below x, with its digits far below 0."""
    return mpf(x > 0) if abs(x) > FAR else mp.erfc(-x / mp.sqrt(2)) / 2


def density(x: Any) -> Any:
    """The normal distribution's density."""
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


def one_less_tanh_squared(x: Any) -> Any:
    """1 / cosh(x)²."""
    e = mp.exp(-2 * abs(x))
    return 4 * e / (1 + e) ** 2


def log_gamma(x: Any) -> Any:
    """log |gamma(x)|, below 0 by the reflection."""
    if x > 0:
        return mp.loggamma(x)
    return mp.log(mp.pi / abs(mp.sinpi(x))) - mp.loggamma(1 - x)


def trigamma(x: Any) -> Any:
    """The derivative of digamma: by series at both ends, below 0 by the reflection (Abramowitz, Stegun, 6.4)."""
    if x > ASYMPTOTIC:
        return 1 / x + 1 / (2 * x * x)
    if abs(x) < 1 / ASYMPTOTIC:
        return 1 / x**2 + mp.pi**2 / 6
    return mp.psi(1, x) if x > 0 else (mp.pi / mp.sinpi(x)) ** 2 - trigamma(1 - x)


def bessel(order: int, x: Any) -> Any:
    """The modified Bessel functions I0 and I1."""
    return mp.besseli(order, x) if abs(x) < FAR else mp.inf * mp.sign(x) ** order


def _gelu(x: Any, approximate: str = "none") -> Any:
    return x * (below(x) if approximate == "none" else sigmoid(2 * _cubic(x)))


def _gelu_slope(x: Any, approximate: str = "none") -> Any:
    if approximate == "none":
        return below(x) + x * density(x)
    inner = mp.sqrt(2 / mp.pi) * (1 + 3 * mpf(0.044715) * x * x)
    return sigmoid(2 * _cubic(x)) + x * HALF * one_less_tanh_squared(_cubic(x)) * inner


def _cubic(x: Any) -> Any:
    return mp.sqrt(2 / mp.pi) * (x + mpf(0.044715) * x**3)


def _step(low: Any, high: Any) -> Function:
    """A slope of `low` below 0, of `high` above."""
    return lambda x: mpf(high) if x > 0 else mpf(low)


def _zero(x: Any, **params: Any) -> Any:
    del x, params
    return mpf(0)


def _one(x: Any, **params: Any) -> Any:
    del x, params
    return mpf(1)


def _softplus(x: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    return x if beta * x > threshold else softplus(beta * x) / beta


def _softplus_slope(x: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    return mpf(1) if beta * x > threshold else sigmoid(beta * x)


def _mish_slope(x: Any) -> Any:
    s = softplus(x)
    return mp.tanh(s) + x * sigmoid(x) * one_less_tanh_squared(s)


def _xielu(x: Any, alpha_n: float = 0.8, alpha_p: float = 0.8, beta: float = 0.5, eps: float = -1e-6) -> Any:
    if x > 0:
        return softplus(mpf(alpha_p)) * x * x + beta * x
    return (beta + softplus(mpf(alpha_n))) * (mp.expm1(min(x, mpf(eps))) - x) + beta * x


def _xielu_slope(x: Any, alpha_n: float = 0.8, alpha_p: float = 0.8, beta: float = 0.5, eps: float = -1e-6) -> Any:
    if x > 0:
        return 2 * softplus(mpf(alpha_p)) * x + beta
    return (beta + softplus(mpf(alpha_n))) * (mp.expm1(x) if x <= eps else -1) + beta


def _silu_slope(x: Any, by: Any = 1) -> Any:
    return sigmoid(by * x) * (1 + by * x * sigmoid(-by * x))


def _hardswish_slope(x: Any) -> Any:
    return mpf(0) if x <= -3 else mpf(1) if x >= 3 else x / 3 + HALF


def _shrunk(x: Any, lambd: float = 0.5) -> Any:
    return x - mp.sign(x) * lambd if abs(x) > lambd else mpf(0)


def _passed_beyond(x: Any, lambd: float = 0.5) -> Any:
    return mpf(abs(x) > lambd)


def _clamped(x: Any, low: float | None, high: float | None) -> Any:
    return max(x if high is None else min(x, mpf(high)), -mp.inf if low is None else mpf(low))


def _between(x: Any, low: float | None, high: float | None) -> Any:
    return mpf((low is None or x >= low) and (high is None or x <= high))


def _rounded(x: Any) -> Any:
    return mp.nint(x)  # ties to even


def _inner(x: Any, eps: float | None) -> Any:
    """What logit takes of a number: itself, or what is clamped to [eps, 1 - eps]."""
    return x if eps is None else _clamped(x, eps, 1 - eps)


#: By operator. Operators of one tensor that compute each number for itself; the test names those that are left out.
EXACT: dict[str, Exact] = {
    "abs": Exact(abs, mp.sign),
    "acos": Exact(mp.acos, lambda x: -1 / mp.sqrt((1 - x) * (1 + x))),
    "acosh": Exact(mp.acosh, lambda x: 1 / mp.sqrt((x - 1) * (x + 1))),
    "asin": Exact(mp.asin, lambda x: 1 / mp.sqrt((1 - x) * (1 + x))),
    "asinh": Exact(mp.asinh, lambda x: 1 / mp.sqrt(1 + x * x)),
    "atan": Exact(mp.atan, lambda x: 1 / (1 + x * x)),
    "atanh": Exact(mp.atanh, lambda x: 1 / ((1 - x) * (1 + x))),
    "cbrt": Exact(lambda x: mp.sign(x) * mp.cbrt(abs(x)), lambda x: 1 / (3 * mp.cbrt(abs(x)) ** 2)),
    "ceil": Exact(mp.ceil, _zero),
    "celu": Exact(
        lambda x, alpha=1.0: x if x > 0 else alpha * mp.expm1(x / alpha),
        lambda x, alpha=1.0: mpf(1) if x > 0 else mp.exp(x / alpha),
        ({}, {"alpha": 0.3}, {"alpha": 1e3}),
    ),
    "clamp": Exact(
        lambda x, min=None, max=None: _clamped(x, min, max),  # noqa: A006 - the parameters' names
        lambda x, min=None, max=None: _between(x, min, max),  # noqa: A006
        ({"min": -1.0, "max": 1e300}, {"max": 1e-310}),
    ),
    "cos": Exact(mp.cos, lambda x: -mp.sin(x)),
    "cosh": Exact(mp.cosh, mp.sinh),
    "digamma": Exact(mp.digamma, trigamma),
    "elu": Exact(
        lambda x, alpha=1.0: x if x > 0 else alpha * mp.expm1(x),
        lambda x, alpha=1.0: mpf(1) if x > 0 else alpha * mp.exp(x),
        ({}, {"alpha": 0.3}, {"alpha": 1e3}),
    ),
    "erf": Exact(mp.erf, lambda x: 2 / mp.sqrt(mp.pi) * mp.exp(-x * x)),
    "erfc": Exact(
        lambda x: mpf(2 * (x < 0)) if abs(x) > FAR else mp.erfc(x), lambda x: -2 / mp.sqrt(mp.pi) * mp.exp(-x * x)
    ),
    "erfinv": Exact(mp.erfinv, lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(mp.erfinv(x) ** 2)),
    "exp": Exact(mp.exp, mp.exp),
    "exp2": Exact(lambda x: mpf(2) ** x, lambda x: mpf(2) ** x * mp.log(2)),
    "expm1": Exact(mp.expm1, mp.exp),
    "floor": Exact(mp.floor, _zero),
    "gelu": Exact(_gelu, _gelu_slope, ({}, {"approximate": "tanh"})),
    "gelu_quick": Exact(lambda x: x * sigmoid(QUICK * x), lambda x: _silu_slope(x, QUICK)),
    "hardshrink": Exact(lambda x, lambd=0.5: x if abs(x) > lambd else mpf(0), _passed_beyond, ({}, {"lambd": 1e-310})),
    "hardsigmoid": Exact(lambda x: _clamped(x + 3, 0, 6) / 6, lambda x: mpf(abs(x) < 3) / 6),
    "hardswish": Exact(lambda x: x * _clamped(x + 3, 0, 6) / 6, _hardswish_slope),
    "hardtanh": Exact(lambda x: _clamped(x, -1, 1), lambda x: mpf(abs(x) < 1)),
    "i0": Exact(lambda x: bessel(0, x), lambda x: bessel(1, x)),
    "leaky_relu": Exact(
        lambda x, negative_slope=0.01: x if x > 0 else negative_slope * x,
        lambda x, negative_slope=0.01: mpf(1) if x > 0 else mpf(negative_slope),
        ({}, {"negative_slope": 2.5}),
    ),
    "lgamma": Exact(log_gamma, mp.digamma),
    "log": Exact(mp.log, lambda x: 1 / x),
    "log10": Exact(lambda x: mp.log(x) / mp.log(10), lambda x: 1 / (x * mp.log(10))),
    "log1p": Exact(mp.log1p, lambda x: 1 / (1 + x)),
    "log2": Exact(lambda x: mp.log(x) / mp.log(2), lambda x: 1 / (x * mp.log(2))),
    "logit": Exact(
        lambda x, eps=None: mp.log(_inner(x, eps) / (1 - _inner(x, eps))),
        lambda x, eps=None: 1 / (x * (1 - x)) if _inner(x, eps) == x else mpf(0),
        ({}, {"eps": 0.25}),
    ),
    "logsigmoid": Exact(lambda x: -softplus(-x), lambda x: sigmoid(-x)),
    "mish": Exact(lambda x: x * mp.tanh(softplus(x)), _mish_slope),
    "neg": Exact(lambda x: -x, lambda x: -_one(x)),
    "reciprocal": Exact(lambda x: 1 / x, lambda x: -1 / (x * x)),
    "relu": Exact(lambda x: max(x, mpf(0)), _step(0, 1)),
    "relu2": Exact(lambda x: max(x, mpf(0)) ** 2, lambda x: 2 * max(x, mpf(0))),
    "relu6": Exact(lambda x: _clamped(x, 0, 6), lambda x: mpf(0 < x < 6)),
    "round": Exact(_rounded, _zero),
    "round_half_away": Exact(lambda x: mp.sign(x) * mp.floor(abs(x) + HALF), _zero),
    "rsqrt": Exact(lambda x: 1 / mp.sqrt(x), lambda x: -1 / (2 * x * mp.sqrt(x))),
    "scale": Exact(
        lambda x, s=1.0, b=0.0: s * x + b,
        lambda x, s=1.0, b=0.0: mpf(s),
        ({}, {"s": -3.0, "b": 0.5}, {"s": 1e-300}),
    ),
    "selu": Exact(
        lambda x: SELU_SCALE * (x if x > 0 else SELU_ALPHA * mp.expm1(x)),
        lambda x: SELU_SCALE * (mpf(1) if x > 0 else SELU_ALPHA * mp.exp(x)),
    ),
    "sigmoid": Exact(sigmoid, lambda x: sigmoid(x) * sigmoid(-x)),
    "sign": Exact(mp.sign, _zero),
    "silu": Exact(lambda x: x * sigmoid(x), _silu_slope),
    "sin": Exact(mp.sin, mp.cos),
    "sinh": Exact(mp.sinh, mp.cosh),
    "softplus": Exact(
        _softplus, _softplus_slope, ({}, {"beta": 3.0, "threshold": 5.0}, {"beta": 0.01, "threshold": 1e3})
    ),
    "softshrink": Exact(_shrunk, _passed_beyond, ({}, {"lambd": 1e-310})),
    "softsign": Exact(lambda x: x / (1 + abs(x)), lambda x: 1 / (1 + abs(x)) ** 2),
    "sqrt": Exact(mp.sqrt, lambda x: 1 / (2 * mp.sqrt(x))),
    "square": Exact(lambda x: x * x, lambda x: 2 * x),
    "step": Exact(lambda x: mpf(x > 0), _zero),
    "tan": Exact(mp.tan, lambda x: 1 / mp.cos(x) ** 2),
    "tanh": Exact(mp.tanh, one_less_tanh_squared),
    "tanhshrink": Exact(lambda x: x - mp.tanh(x), lambda x: mp.tanh(x) ** 2),
    "threshold": Exact(
        lambda x, threshold, value: x if x > threshold else mpf(value),
        lambda x, threshold, value: mpf(x > threshold),
        ({"threshold": 0.5, "value": -2.0}, {"threshold": -1e-310, "value": 1e300}),
    ),
    "trunc": Exact(lambda x: mp.floor(x) if x > 0 else mp.ceil(x), _zero),
    "xielu": Exact(_xielu, _xielu_slope, ({}, {"alpha_n": -0.5, "alpha_p": 1.5, "beta": 0.1})),
}
