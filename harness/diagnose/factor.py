"""Errors that need no second evaluation: a factor, zeros, stale numbers, copies, a sign, a constant added."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.harness.diagnose import other_call
from opproof.harness.diagnose.other_call import MIN_DISTINCT_VALUES
from opproof.harness.diagnose.wrong import WrongTensor
from opproof.harness.judge.bound import C, floor_of
from opproof.reference_ops import Trait


def find_factor(w: WrongTensor) -> str | None:
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
    familiar = [*_iter_familiar(w), *([] if _is_near(plain, fitted, e, y) else _iter_less_one(w))]
    for value, text, why in familiar:
        if abs(fitted - value) <= 0.02 * abs(value) and w.fits(value * w.stored):
            return f"every element of {w.what} is {text} × the expected value{why or _of_parameter(w, value)}"
    for simple in (float(f"{fitted:.2g}"), plain, float(f"{fitted:.3g}"), fitted):
        if abs(simple - 1) > 1e-6 and w.fits(simple * w.stored, free=1):
            return (
                f"every element of {w.what} is {_format_factor(simple)} × the expected value{_of_parameter(w, simple)}"
            )
    return None


def find_tensor_factor(w: WrongTensor) -> str | None:
    """A factor too many, or one that is missing: an input, the cotangent or the output."""
    outputs = zip(w.op.outputs, w.posed.outputs, strict=False) if w.mode == "gradient" else ()
    named = [*zip(w.names, w.inputs, strict=True), *(("the cotangent", g) for g in w.cotangents), *outputs]
    for name, v in named:
        if v is None or v.dtype.kind != "f" or not _fills(v.shape, w.got.shape):
            continue
        if np.unique(np.broadcast_to(v, w.got.shape)[w.failing & (w.expected != 0)]).size < MIN_DISTINCT_VALUES:
            continue  # of few values another function does the same
        for said, candidate in ((f"× {name}", w.expected * v), (f"/ {name}", w.expected / v)):
            if w.fits(np.where(v == 0, w.got, candidate)):
                return f"every element of {w.what} is the expected value {said}"
    return None


def _fills(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Whether a tensor has an element for every one of another, its last axes alone or all of them."""
    return bool(shape) and shape == whole[len(whole) - len(shape) :]


def _is_near(factor: float, fitted: float, expected: Array, got: Array) -> bool:
    """Whether a factor may be the one that was fitted, as far as that is known: two standard errors.

    Of 1.005 or 1.02 some n / (n - 1) is near, whatever the sizes.
    """
    left = expected * (got - fitted * expected)
    return abs(factor - fitted) <= 2 * math.sqrt(float(np.sum(left * left))) / float(np.sum(expected * expected))


def _format_factor(value: float) -> str:
    """A factor in figures that tell it from 1."""
    off = value - 1
    return f"(1 {'-' if off < 0 else '+'} {abs(off):.2g})" if abs(off) < 1e-4 else f"{value:.6g}"


def _of_parameter(w: WrongTensor, value: float) -> str:
    for name, now in w.params.items():
        if isinstance(now, float) and math.isfinite(now) and now not in (0.0, 1.0):
            for of, said in ((now, f"{name} = {now:g}"), (1 / now, f"1 / {name}, which is {now:g}")):
                if math.isclose(value, of, rel_tol=1e-6):
                    return f" ({said})"
    return ""


def _iter_familiar(w: WrongTensor) -> Iterator[tuple[float, str, str]]:
    for n in (2, 3, 4):
        yield float(n), str(n), ""
        yield 1 / n, f"1/{n}", ""
    yield math.log(2), "ln 2 = 0.6931", ""
    yield 1 / math.log(2), "1 / ln 2 = 1.443", ""
    yield math.sqrt(2), "√2", ""
    yield math.sqrt(0.5), "1/√2", ""
    for n, why in _collect_sizes(w).items():
        yield float(n), str(n), why
        yield 1 / n, f"1/{n}", why
        yield math.sqrt(n), f"√{n}", why
        yield 1 / math.sqrt(n), f"1/√{n}", why


def _iter_less_one(w: WrongTensor) -> Iterator[tuple[float, str, str]]:
    for n, why in _collect_sizes(w).items():
        yield (n - 1) / n, f"{n - 1}/{n}", why
        yield n / (n - 1), f"{n}/{n - 1}", why


def _collect_sizes(w: WrongTensor) -> dict[int, str]:
    """The sizes of tensors, of their axes and slices, with what they are; 1 is left out.

    Where every element is made of its own ones alone, no size has a part in it.
    """
    sizes: dict[int, str] = {}
    if Trait.POINTWISE in w.op.traits and all(v is None or v.shape == w.got.shape for v in w.inputs):
        return sizes
    for name, shape in w.case.shapes.items():
        for axis, n in enumerate(shape):
            sizes.setdefault(n, f" ({n} is the size of axis {axis} of {name})")
        sizes.setdefault(math.prod(shape), f" ({math.prod(shape)} is the number of elements of {name})")
        for start in range(len(shape)):
            sizes.setdefault(math.prod(shape[start:]), f" ({math.prod(shape[start:])} elements of {name} a slice)")
    return {n: why for n, why in sizes.items() if n > 1}


def find_zeros(w: WrongTensor) -> str | None:
    if w.got.any() or not w.fits(np.zeros_like(w.expected)):
        return None
    return f"{w.what} is zero everywhere"


def find_constant(w: WrongTensor) -> str | None:
    if w.got.size < 2 or np.ptp(w.got) != 0 or np.ptp(w.expected) == 0:
        return None  # where one number is expected everywhere, any is as good as a constant
    if not w.fits(np.full_like(w.expected, w.got.flat[0])):
        return None
    return f"{w.what} is {w.got.flat[0]:.6g} everywhere"


def find_stale(w: WrongTensor) -> str | None:
    if w.stale is None or w.stale.shape != w.got.shape:
        return None
    same = np.array_equal(w.got[w.failing], w.stale[w.failing], equal_nan=w.got.dtype.kind == "f")
    if not same or len(np.unique(w.got[w.failing])) < 2 or not w.fits(np.where(w.failing, w.stale, w.expected)):
        return None
    before = w.before()  # what stands there must have been right then, or it is no answer but garbage
    if before is None or not np.allclose(w.got[w.failing], before[w.failing], rtol=0.1, atol=0.1, equal_nan=True):
        return None
    return f"the wrong elements of {w.what} hold the answer of the call before, which had other data"


def find_copy(w: WrongTensor) -> str | None:
    for name, v in zip(w.names, w.inputs, strict=True):
        if v is not None and w.fits(v):
            return (
                f"{name} is left as it was" if w.what == f"{name} after the call" else f"{w.what} is a copy of {name}"
            )
    if any(w.fits(g) for g in w.cotangents if g is not None):
        return f"{w.what} is a copy of the cotangent: the derivative is missing"
    return None


def find_sign(w: WrongTensor) -> str | None:
    if w.expected.dtype.kind == "b":
        return f"every element of {w.what} is negated" if w.fits(~w.expected) else None
    if w.fits(-w.expected):
        reason = next((swap.as_if for swap in other_call.iter_swaps(w) if swap.as_if), "")
        return f"every element of {w.what} has the wrong sign{reason and f', as if {reason}'}"
    if w.fits(np.abs(w.expected)):
        return f"{w.what} has lost its sign: it is the absolute value of what is expected"
    if w.fits(-np.abs(w.expected)):
        return f"{w.what} is minus the absolute value of what is expected"
    return None


def find_added_constant(w: WrongTensor) -> str | None:
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


def _of_all(w: WrongTensor, left: Array, size: Array, shift: float) -> bool:
    """Whether what a constant leaves of the wrong elements' errors is rounding: of each itself, and of the constant."""
    kind = DTYPES[w.dtype]
    units = C if kind.digits >= 24 else 3.0
    reach = units * kind.u * (size + abs(shift)) + floor_of(kind)
    return bool((np.abs(left) <= reach).all())
