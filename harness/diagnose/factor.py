"""A factor too many or one that is missing: a familiar number, a size, a parameter, an input."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from opproof.core.arrays import Array
from opproof.harness.diagnose.tensors import DISTINCT
from opproof.harness.diagnose.wrong import Wrong
from opproof.reference_ops import Trait


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
            return f"every element of {w.what} is {text} × the expected value{why or _of_parameter(w, value)}"
    for simple in (float(f"{fitted:.2g}"), plain, float(f"{fitted:.3g}"), fitted):
        if abs(simple - 1) > 1e-6 and w.fits(simple * w.stored, free=1):
            return f"every element of {w.what} is {_told(simple)} × the expected value{_of_parameter(w, simple)}"
    return None


def times_tensor(w: Wrong) -> str | None:
    """A factor too many, or one that is missing: an input, the cotangent or the output."""
    outputs = zip(w.op.outputs, w.posed.outputs, strict=False) if w.mode == "gradient" else ()
    named = [*zip(w.names, w.inputs, strict=True), *(("the cotangent", g) for g in w.cotangents), *outputs]
    for name, v in named:
        if v is None or v.dtype.kind != "f" or not _fills(v.shape, w.got.shape):
            continue
        if np.unique(np.broadcast_to(v, w.got.shape)[w.failing & (w.expected != 0)]).size < DISTINCT:
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


def _told(value: float) -> str:
    """A factor in figures that tell it from 1."""
    off = value - 1
    return f"(1 {'-' if off < 0 else '+'} {abs(off):.2g})" if abs(off) < 1e-4 else f"{value:.6g}"


def _of_parameter(w: Wrong, value: float) -> str:
    """The parameter that has the factor for its value, or that it is one over."""
    for name, now in w.params.items():
        if isinstance(now, float) and math.isfinite(now) and now not in (0.0, 1.0):
            for of, said in ((now, f"{name} = {now:g}"), (1 / now, f"1 / {name}, which is {now:g}")):
                if math.isclose(value, of, rel_tol=1e-6):
                    return f" ({said})"
    return ""


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
