"""Errors that need no second evaluation: zeros, stale, copies, a sign, a factor, a constant added."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from opproof.harness.diagnose.wrong import Wrong
from opproof.vocabulary.arrays import Array


def zeros(w: Wrong) -> str | None:
    if w.got.any() or not w.fits(np.zeros_like(w.expected)):
        return None
    return f"{w.what} is zero everywhere"


def constant(w: Wrong) -> str | None:
    if w.got.size < 2 or np.ptp(w.got) != 0 or np.ptp(w.expected) == 0:
        return None  # where one number is expected everywhere, any is as good as a constant
    if not w.fits(np.full_like(w.expected, w.got.flat[0])):
        return None
    return f"{w.what} is {w.got.flat[0]:.6g} everywhere"


def stale(w: Wrong) -> str | None:
    if w.stale is None or w.stale.shape != w.got.shape:
        return None
    same = np.array_equal(w.got[w.failing], w.stale[w.failing], equal_nan=w.got.dtype.kind == "f")
    if not same or len(np.unique(w.got[w.failing])) < 2 or not w.fits(np.where(w.failing, w.stale, w.expected)):
        return None
    before = w.before()  # what stands there must have been right then, or it is no answer but garbage
    if before is None or not np.allclose(w.got[w.failing], before[w.failing], rtol=0.1, atol=0.1, equal_nan=True):
        return None
    return f"the wrong elements of {w.what} hold the answer of the call before, which had other data"


def copy(w: Wrong) -> str | None:
    for name, v in zip(w.names, w.inputs, strict=True):
        if v is not None and w.fits(v):
            return (
                f"{name} is left as it was" if w.what == f"{name} after the call" else f"{w.what} is a copy of {name}"
            )
    if any(w.fits(g) for g in w.cotangents if g is not None):
        return f"{w.what} is a copy of the cotangent: the derivative is missing"
    return None


def sign(w: Wrong) -> str | None:
    if w.expected.dtype.kind == "b":
        return f"every element of {w.what} is negated" if w.fits(~w.expected) else None
    if w.fits(-w.expected):
        return f"every element of {w.what} has the wrong sign"
    if w.fits(np.abs(w.expected)):
        return f"{w.what} has lost its sign: it is the absolute value of what is expected"
    if w.fits(-np.abs(w.expected)):
        return f"{w.what} is minus the absolute value of what is expected"
    return None


def factor(w: Wrong) -> str | None:
    """One factor for all elements: a familiar one, else the least-squares one."""
    if w.expected.dtype.kind != "f":
        return None
    used = np.isfinite(w.got) & np.isfinite(w.expected)
    e, y = w.expected[used], w.got[used]
    square = float(np.sum(e * e))
    fitted = float(np.sum(e * y)) / square if square > 0 else math.nan
    if not math.isfinite(fitted) or fitted == 0:
        return None
    plain = 1 + float(f"{fitted - 1:.1g}")
    familiar = [*_familiar(w), *([] if _is_near(plain, fitted, e, y) else _less_one(w))]
    for value, text, why in familiar:
        if abs(fitted - value) <= 0.02 * abs(value) and w.fits(value * w.stored):
            return f"every element of {w.what} is {text} × the expected value{why}"
    for simple in (float(f"{fitted:.2g}"), plain, float(f"{fitted:.3g}"), fitted):
        if abs(simple - 1) > 1e-6 and w.fits(simple * w.stored, free=1):
            return f"every element of {w.what} is {_told(simple)} × the expected value"
    return None


def _is_near(factor: float, fitted: float, expected: Array, got: Array) -> bool:
    """Whether a factor may be the one that was fitted, as far as that is known: two standard errors.

    Of 1.005 or 1.02 some n / (n - 1) is near, whatever the sizes.
    """
    left = expected * (got - fitted * expected)
    return abs(factor - fitted) <= 2 * math.sqrt(float(np.sum(left * left))) / float(np.sum(expected * expected))


def _told(value: float) -> str:
    """A factor in figures that tell it from 1."""
    off = value - 1
    return f"(1 {'-' if off < 0 else '+'} {abs(off):.2g})" if abs(off) < 1e-4 else f"{value:.6g}"


def _familiar(w: Wrong) -> Iterator[tuple[float, str, str]]:
    for n in (2, 3, 4):
        yield float(n), str(n), ""
        yield 1 / n, f"1/{n}", ""
    yield math.log(2), "ln 2 = 0.6931", ""
    yield 1 / math.log(2), "1 / ln 2 = 1.443", ""
    yield math.sqrt(2), "√2", ""
    yield math.sqrt(0.5), "1/√2", ""
    for n, why in _sizes(w).items():
        yield float(n), str(n), why
        yield 1 / n, f"1/{n}", why
        yield math.sqrt(n), f"√{n}", why
        yield 1 / math.sqrt(n), f"1/√{n}", why


def _less_one(w: Wrong) -> Iterator[tuple[float, str, str]]:
    for n, why in _sizes(w).items():
        yield (n - 1) / n, f"{n - 1}/{n}", why
        yield n / (n - 1), f"{n}/{n - 1}", why


def _sizes(w: Wrong) -> dict[int, str]:
    """The sizes of tensors, of their axes and slices, with what they are; 1 is left out."""
    sizes: dict[int, str] = {}
    for name, shape in w.case.shapes.items():
        for axis, n in enumerate(shape):
            sizes.setdefault(n, f" ({n} is the size of axis {axis} of {name})")
        sizes.setdefault(math.prod(shape), f" ({math.prod(shape)} is the number of elements of {name})")
        for start in range(len(shape)):
            sizes.setdefault(math.prod(shape[start:]), f" ({math.prod(shape[start:])} elements of {name} a slice)")
    return {n: why for n, why in sizes.items() if n > 1}


def constant_added(w: Wrong) -> str | None:
    finite = (
        np.isfinite(w.got) & np.isfinite(w.expected) if w.expected.dtype.kind == "f" else np.ones(w.got.shape, bool)
    )
    if w.expected.dtype.kind == "b" or not finite.any():
        return None
    if w.failing.mean() < 0.5:
        return None
    usual = float(np.median(np.asarray(w.got - w.expected, dtype=np.float64)[finite & w.failing]))
    for shift in (float(f"{usual:.2g}"), usual):
        if shift != 0 and w.fits((w.expected + shift).astype(w.expected.dtype), free=1, through=w.expected):
            return f"every element of {w.what} is {abs(shift):.6g} too {'large' if shift > 0 else 'small'}"
    return None
