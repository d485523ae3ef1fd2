"""Errors that need no second evaluation: zeros, stale, copies, a sign, a constant added."""

from __future__ import annotations

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.harness.diagnose import swapped
from opproof.harness.diagnose.wrong import Wrong
from opproof.harness.judge.bound import C, floor_of


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
        reason = next((swap.as_if for swap in swapped.swaps(w) if swap.as_if), "")
        return f"every element of {w.what} has the wrong sign{reason and f', as if {reason}'}"
    if w.fits(np.abs(w.expected)):
        return f"{w.what} has lost its sign: it is the absolute value of what is expected"
    if w.fits(-np.abs(w.expected)):
        return f"{w.what} is minus the absolute value of what is expected"
    return None


def constant_added(w: Wrong) -> str | None:
    """One constant added to all elements: the right ones are so large beside it that it does not show in them.

    It is taken from the wrong element of the least scale, which is rounded least, and must be that of every wrong
    one to that one's own rounding: errors that are merely of one size, as of digits lost, are not.
    """
    used = w.failing & np.isfinite(w.got) & np.isfinite(w.expected)
    if w.whole or not used.any() or np.ptp(np.sign(w.got[used] - w.expected[used])) != 0:
        return None
    error, size = (w.got - w.expected)[used], (w.scale + np.abs(w.expected))[used]
    usual, least = float(np.median(error)), float(error[np.argmin(size)])
    for shift in (float(f"{usual:.2g}"), float(f"{least:.3g}"), usual, least):
        of_all = shift != 0 and _of_all(w, error - shift, size, shift)
        if of_all and w.fits(w.expected + shift, free=1, through=w.expected):
            return f"a constant is added to {w.what}: {shift:.6g}"
    return None


def _of_all(w: Wrong, left: Array, size: Array, shift: float) -> bool:
    """Whether what a constant leaves of the wrong elements' errors is rounding: of each itself, and of the constant."""
    kind = DTYPES[w.dtype]
    units = C if kind.digits >= 24 else 3.0
    reach = units * kind.u * (size + abs(shift)) + floor_of(kind)
    return bool((np.abs(left) <= reach).all())
