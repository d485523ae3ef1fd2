"""Whether truth values, each true with probability q by itself, may be chance: less likely than LEAST they are not.

By Chernoff's bound (1952), k of n are true, or a number farther from q n to that side, with a probability of at most
exp(-n D(k/n, q)), D the relative entropy: it holds for every n and q, where a normal approximation does not.
"""

import math
from collections.abc import Mapping

import numpy as np

from opproof.core.arrays import Array

#: What is held to be no chance: of a billion records that are judged, one is judged wrong.
LEAST = 1e-9
#: Distances that are looked at closely, the most suspicious of all.
_CLOSELY = 16


def draw_evenly(key: int, shape: tuple[int, ...]) -> Array:
    """Draw numbers from 0 to before 1, multiples of 2^-53, by a generator of that key."""
    raw = np.random.Philox(key=key).random_raw(math.prod(shape)).reshape(shape)
    return (raw >> np.uint64(11)) * 2.0**-53


def unlikely(k: Array | int, n: Array | int, q: Array | float, tries: int = 1) -> Array:
    """Where k of n are true in such a way; what is said is the worst of `tries`."""
    k, n = np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64)
    share = k / np.maximum(n, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        of_true = np.where(share == 0, 0.0, share * np.log(share / q))
        of_false = np.where(share == 1, 0.0, (1 - share) * np.log((1 - share) / (1 - q)))
    return n * (of_true + of_false) > math.log(2 * tries / LEAST)  # type: ignore[no-any-return]


def uneven(kept: Array, q: float) -> str:
    """Where too many are true, or too few: in all, in slices along an axis, at either end of memory; or nowhere."""
    n, total = kept.size, int(np.count_nonzero(kept))
    if unlikely(total, n, q):
        return f"{total} of {n} elements are kept, expected about {q * n:.6g}"
    for axis in range(kept.ndim if n else 0):
        counts = np.count_nonzero(kept, axis=tuple(k for k in range(kept.ndim) if k != axis))
        each = n // kept.shape[axis]
        if (worst := unlikely(counts, each, q, len(counts))).any():
            i = int(np.argmax(worst))
            return f"{counts[i]} of the {each} elements at {i} of axis {axis} are kept, expected about {q * each:.6g}"
    flat = kept.reshape(-1)
    sizes = [2**k for k in range(n.bit_length())]
    for where, ends in (("first", [flat[:s] for s in sizes]), ("last", [flat[n - s :] for s in sizes])):
        for end in ends:
            count = int(np.count_nonzero(end))
            if unlikely(count, end.size, q, len(sizes)):
                return f"{count} of the {where} {end.size} elements are kept, expected about {q * end.size:.6g}"
    return ""


def repeated(kept: Array, q: float) -> str:
    """At which distance the values are alike, or unlike, more often than chance has it, in words."""
    flat = kept.reshape(-1)
    for lag in _suspicious(flat, flat, q):
        if lag and (words := _agree(flat[:-lag], flat[lag:], lag, q, 2 * flat.size)):
            return f"{words} {lag} apart: the mask repeats itself"
    return ""


def alike(kept: Array, other: Array, q: float) -> str:
    """Whether the values are those of another key, or those moved along memory, in words."""
    a, b = kept.reshape(-1), other.reshape(-1)
    for lag in _suspicious(a, b, q):
        for x, y in ((a[: a.size - lag], b[lag:]), (b[: b.size - lag], a[lag:])):
            if words := _agree(x, y, 0, q, 4 * a.size):
                return f"{words} {lag} apart, of two keys: the mask is not drawn from the key"
    return ""


def partial(kept: Array, values: Array, q: float) -> str:
    """Whether what is kept goes by `values`, of the same shape, in words: the larger ones, or those of one sign."""
    flat, x = kept.reshape(-1), np.asarray(values, dtype=np.float64).reshape(-1)
    chosen = np.isfinite(x)
    flat, x = flat[chosen], x[chosen]
    for what, high in (("farther from zero", np.abs(x)), ("larger", x)):
        if not x.size or np.ptp(high) == 0:
            continue
        above = high > np.median(high)
        for half, words in ((above, what), (~above, f"not {what}")):
            k, n = int(np.count_nonzero(flat[half])), int(np.count_nonzero(half))
            if unlikely(k, n, q, 4):
                return f"{k} of the {n} elements are kept that are {words} than the median, expected about {q * n:.6g}"
    return ""


def _suspicious(a: Array, b: Array, q: float) -> list[int]:
    """The distances at which two runs of values correlate most, of either sign."""
    n = a.size
    if n < 2 or not 0 < q < 1:
        return []
    size = 2 ** (2 * n).bit_length()
    x, y = np.fft.rfft(a - q, size), np.fft.rfft(b - q, size)
    forth = np.fft.irfft(np.conj(x) * y, size)
    both = np.maximum(np.abs(forth[:n]), np.abs(np.concatenate([forth[:1], forth[: size - n : -1]])))
    ranked = np.argsort(-both / np.sqrt(np.maximum(n - np.arange(n), 1)), kind="stable")
    return [int(lag) for lag in ranked[:_CLOSELY]]


def _agree(x: Array, y: Array, lag: int, q: float, tries: int) -> str:
    """How often two runs agree, where that is no chance. `lag` apart in one run, only pairs that share no element."""
    if lag:
        apart = np.arange(x.size) // lag % 2 == 0
        x, y = x[apart], y[apart]
    same = int(np.count_nonzero(x == y))
    if not unlikely(same, x.size, q * q + (1 - q) * (1 - q), tries):
        return ""
    return f"{same} of {x.size} pairs of elements agree"


def uneven_below(y: Array, other: Array | None, shares: Mapping[float, float]) -> str:
    """Where too many of the numbers y lie below a threshold, or too few, or they repeat themselves or those of `other`.

    `shares` gives for each threshold the part of all numbers that lies below it.
    """
    if not np.isfinite(y).all():
        return "numbers that are not finite are drawn"
    for threshold, q in shares.items():
        below = y < threshold
        found = uneven(below, q) or repeated(below, q)
        if found or (other is not None and (found := alike(below, other < threshold, q))):
            return f"kept are numbers below {threshold:.6g}: {found}"
    return ""


def uneven_each(true: Array, shares: Array) -> str:
    """Where too many are true, or too few, each with a probability of its own, those of 0 and of 1 among them.

    Of numbers with other probabilities no more is true by chance than of as many with their mean (Hoeffding, 1956).
    """
    flat, p = true.reshape(-1), np.asarray(shares, dtype=np.float64)
    if (true & (p <= 0)).any() or (~true & (p >= 1)).any():
        return "something is drawn whose probability is 0, or not drawn though it is 1"
    order = np.argsort(p, axis=None, kind="stable")
    width = max(flat.size // 8, 1)
    parts = [order[i : i + width] for i in range(0, flat.size, width)]
    found = [(flat[part].sum(), p.reshape(-1)[part].mean(), part.size) for part in parts]
    for axis in range(true.ndim if flat.size else 0):
        others = tuple(a for a in range(true.ndim) if a != axis)
        found += zip(
            np.sum(true, axis=others),
            np.mean(p, axis=others),
            [flat.size // true.shape[axis]] * true.shape[axis],
            strict=True,
        )
    return rare(*map(np.asarray, zip(*found, strict=True))) if found else ""


def of_another_key(same: Array, share: float) -> str:
    """Whether more elements are the same as those of another key than the `share` that chance has, in words."""
    count = int(np.count_nonzero(same))
    if 0 < share < 1 and count > share * same.size and unlikely(count, same.size, share):
        return f"{count} of {same.size} elements are those of another key"
    return ""


def rare(counts: Array, shares: Array, sizes: Array | int) -> str:
    """Which of `counts`, of `sizes` numbers with the mean probability of `shares`, is no chance, in words."""
    between = (shares > 0) & (shares < 1)
    q = np.where(between, shares, 0.5)
    worst = between & unlikely(counts, sizes, q, counts.size)
    if not worst.any():
        return ""
    at = np.unravel_index(int(np.argmax(worst)), worst.shape)
    size = np.broadcast_to(sizes, worst.shape)[at]
    return f"{counts[at]} of {size} elements are drawn, expected about {shares[at] * size:.6g}"
