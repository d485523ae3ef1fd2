"""Would the textbook's gradient pass? As autograd has it of honest forwards, in plain float32.

GRADIENTS has for each operator a case at which such ways round much, or one has failed, and the ways: functions of the
cotangent, the tensors in float32 and the parameters, which give a gradient for each tensor that needs one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from one_liners import Ways  # beside this file
from scipy import special


def _chain(x: Any, dim: int) -> Any:
    return np.expand_dims(np.logaddexp.reduce(x, axis=dim), dim)


def _softmax(x: Any, dim: int) -> Any:
    e = np.exp(x - np.max(x, axis=dim, keepdims=True))
    return e / np.sum(e, axis=dim, keepdims=True)


def _of_shares(g: Any, x: Any, dim: int) -> Any:
    y = _softmax(x, dim)
    return y * g - y * np.sum(y * g, axis=dim, keepdims=True)


def _through_the_largest(g: Any, x: Any, dim: int) -> Any:
    """As autograd has it of exp(x - max(x)) / sum exp(x - max(x)), to which max(x) is as variable as x."""
    e = np.exp(x - np.max(x, axis=dim, keepdims=True))
    total = np.sum(e, axis=dim, keepdims=True)
    ds = (g / total - np.sum(g * e, axis=dim, keepdims=True) / total**2) * e
    return ds - np.where(e == 1, np.add.accumulate(ds, axis=dim).take([-1], axis=dim), 0)


def _logarithms(g: Any, x: Any, target: Any, **_: Any) -> Any:
    """Of -(t log sigmoid(x) + (1 - t) log sigmoid(-x)), each term by itself."""
    up, down = special.log_expit(x), special.log_expit(-x)
    return (1 - target) * special.expit(x) * g - target * special.expit(-x) * g, down * g - up * g


def _by_variance(g: Any, x: Any, eps: float, **_: Any) -> Any:
    """Of the variance, of the mean, of x: three terms, as the paper on batch normalisation has them."""
    n, centred = np.float32(x.shape[-1]), x - np.mean(x, axis=-1, keepdims=True)
    scale = 1 / np.sqrt(np.mean(centred**2, axis=-1, keepdims=True) + np.float32(eps))
    of_variance = np.sum(g * centred, axis=-1, keepdims=True) * np.float32(-0.5) * scale**3
    of_mean = -np.sum(g * scale, axis=-1, keepdims=True)
    return g * scale + of_variance * 2 * centred / n + of_mean / n


def _by_ratio(g: Any, x: Any, dim: int) -> Any:
    """Of cumprod, where nothing is 0."""
    return np.flip(np.cumsum(np.flip(g * np.cumprod(x, axis=dim), dim), axis=dim), dim) / x


GRADIENTS = {
    "logsumexp": Ways("x=9x1031;dim=-1;fill=wide", {
        "exp(x - np.logaddexp.reduce(x))": lambda g, x, dim, **_: np.expand_dims(g, dim) * np.exp(x - _chain(x, dim)),
        "softmax(x)": lambda g, x, dim, **_: np.expand_dims(g, dim) * _softmax(x, dim),
    }),
    "softmax": Ways("x=16385x1;dim=0", {"y g - y sum(y g)": _of_shares, "max(x) too": _through_the_largest}),
    "bce_with_logits": Ways("x=9x131;target=9x131;reduction=none", {"logarithms": _logarithms}),
    "lerp": Ways("a=1x16385;b=2x16385;weight=1x16385", {
        "g - g weight": lambda g, a, b, weight: (
            np.sum(g, 0, keepdims=True) - np.sum(g * weight, 0, keepdims=True), g * weight,
            np.sum(g * (b - a), 0, keepdims=True),
        ),
    }),
    "layer_norm": Ways("x=7x33;normalized_shape=(33)", {"three terms": _by_variance}),
    "cumprod": Ways("x=5x31;dim=0", {"a ratio": _by_ratio}),
    "sigmoid": Ways("x=5x31;fill=wide", {"s(x) s(-x)": lambda g, x: g * special.expit(x) * special.expit(-x)}),
    "tanh": Ways("x=5x31;fill=wide", {"1 / cosh(x)^2": lambda g, x: g / np.cosh(x) ** 2}),
    "silu": Ways("x=5x31;fill=wide", {
        "s + x s (1 - s)": lambda g, x: g * (special.expit(x) + x * special.expit(x) * (1 - special.expit(x))),
    }),
    "logsigmoid": Ways("x=5x31;fill=wide", {"1 / (1 + exp(x))": lambda g, x: g / (1 + np.exp(x))}),
    "logaddexp": Ways("a=5x63;b=5x63;fill=wide;layout=b:sliced", {
        "1 / (1 + exp(b - a))": lambda g, a, b: (g / (1 + np.exp(b - a)), g / (1 + np.exp(a - b))),
    }),
}  # fmt: skip
