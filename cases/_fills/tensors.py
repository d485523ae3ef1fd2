"""The values of the tensors of a case, from its id alone: the same on every machine and in every version of NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.cases._case import Case, Shape
from opproof.cases._fills.by_tensor import (
    BY_POSITION,
    PADDED,
    SPECIAL_PAIRS,
    SPREAD,
    TRUTHS,
    draw_padded,
    draw_special_pairs,
    draw_truths,
    place_values,
)
from opproof.cases._fills.exhaustive import EVERY, draw_every, draw_pairs, is_every, is_pairs
from opproof.cases._fills.fills import (
    ALIKE,
    BRINK,
    EVERY_BYTE,
    FILLS,
    GROWING,
    NAN_CODES,
    NOT_FINITE,
    OF_ONE,
    PAST_EXP,
    PIVOTS,
    REPORTS,
    SINGULAR,
    SMALL_SCALES,
)
from opproof.cases._fills.integers import INTEGER_FILLS, confine
from opproof.cases._fills.limits import fill_brink
from opproof.cases._fills.matrices import make_definite, make_regular
from opproof.cases._fills.random_bits import Bits, Floats, bits_of, choose, draw_below, fill_normal
from opproof.cases._fills.stored import is_stored, read_stored
from opproof.core.arrays import Closed, Whole
from opproof.core.dtypes import DTYPES, round_to
from opproof.core.errors import CaseError, suggest

#: By fill what is asked of who draws codes.
_OF_CODES = {EVERY_BYTE: "every", NAN_CODES: "nan", SMALL_SCALES: "small"}
#: Places, as of an axis, of which the first and the last are drawn though few are.
_FAR_APART = 2**12
#: Fills that draw masks in their own way.
_MASKS = {PADDED: draw_padded, TRUTHS: draw_truths}


def draw(case: Case, constraints: Mapping[str, Any], variant: int = 0) -> dict[str, NDArray[Any]]:
    """Draw the values of every tensor of `case`, each rounded to its dtype: float64, or int64 for index tensors.

    `constraints` maps a tensor's name to a `range` (integers), to (low, high) (floats strictly between), to Closed
    (floats between, on whose ends the fill "brink" sits), to "nonzero", to "definite" (symmetric matrices), to
    "regular" (matrices that have an inverse), to a Whole (integers that are data), or to a function of raw bits and
    shape (the bytes of a quantised tensor).
    `variant` gives other data for the same case. An alias is the same array object.
    """
    if variant and case.fill in REPORTS:  # pinned values have no variants
        case = replace(case, fill="normal")
    values: dict[str, NDArray[Any]] = {}
    for name, shape in case.tensors:
        if isinstance(shape, str):
            values[name] = values[shape]
        else:
            values[name] = draw_tensor(case, name, shape, constraints.get(name), f"variant={variant}")
            if case.fill == ALIKE and constraints.get(name) is None:
                values[name] = _copy_first(case, values, name)
            if case.fill == "meet":
                values[name] = _meet_first(case, values, name, f"variant={variant}")
    return values


def _copy_first(case: Case, values: Mapping[str, NDArray[Any]], name: str) -> NDArray[Any]:
    """The values of the first tensor that has the shape and the kind of `name`, copied."""
    mine = values[name]
    first = next(v for v in values.values() if v.shape == mine.shape and v.dtype == mine.dtype)
    return mine if case.mixed else first.copy()


def _meet_first(case: Case, values: Mapping[str, NDArray[Any]], name: str, salt: str) -> NDArray[Any]:
    """The values of `name`, about half of them those of the first tensor in the same places, if it has its axes."""
    first, mine = values[case.tensors[0][0]], values[name]
    if mine is first or mine.dtype != first.dtype or first.shape[first.ndim - mine.ndim :] != mine.shape:
        return mine
    shared = first[(0,) * (first.ndim - mine.ndim)]
    same = choose(bits_of(f"{case}|meet {name}|{salt}"), mine.shape, (0.0, 1.0)) != 0
    same.flat[:1] = True
    return np.where(same, shared, mine)


def draw_cotangent(case: Case, name: str, shape: Shape, variant: int = 0) -> Floats:
    """Draw a random cotangent of O(1), never ones; whole or positive numbers where the case's fill is such."""
    fill = case.fill if case.fill in ("exact", "signs", GROWING, SPREAD) else "normal"
    bits = bits_of(f"{case}|cotangent {name}|variant={variant}")
    g = FILLS[fill](bits, shape, DTYPES[case.dtype])
    if is_every(case.fill):  # some derivatives are past the largest number, and times 0 they are no number
        g = np.where(g == 0, 0.5, g)
    return _as_array(round_to(g, DTYPES[case.dtype]), shape)


def is_unconstrained(fill: str) -> bool:
    """Whether the fill's numbers stay where they are drawn, outside of an operator's domain too."""
    return fill in NOT_FINITE | {PIVOTS, SINGULAR} or is_every(fill) or is_stored(fill)


def draw_tensor(case: Case, name: str, shape: Shape, constraint: Any, salt: str) -> NDArray[Any]:
    """Draw the values of one tensor. Raises CaseError for an unknown fill."""
    bits, dtype = bits_of(f"{case}|{name}|{salt}"), DTYPES[case.dtype_of(name)]
    if is_stored(case.fill):
        as_seen = not case.seed and salt == "variant=0"
        values = read_stored(case, name, shape, None if as_seen else np.argsort(bits(math.prod(shape)), kind="stable"))
        return _as_array(round_to(values, dtype), shape) if values.dtype.kind == "f" else values
    if isinstance(constraint, Whole) and not dtype.whole:
        constraint = constraint.allowed
    if isinstance(constraint, range):
        masks = _MASKS.get(case.fill) if constraint == range(2) else None
        return masks(bits, shape) if masks else _draw_indices(bits, shape, constraint)
    if dtype.whole and not callable(constraint):
        return _draw_integers(case, shape, constraint, bits)
    if callable(constraint):
        asked = {_OF_CODES[case.fill]: True} if case.fill in _OF_CODES else {}
        drawn: NDArray[Any] = constraint(bits, shape, **asked)
        return drawn
    if case.fill == BRINK and isinstance(constraint, Closed):
        ends = (constraint.low, constraint.high)
        ordinary = _constrain(fill_normal(bits, shape, dtype), ends)
        return _as_array(round_to(fill_brink(bits, shape, *ends, ordinary), dtype), shape)
    fill = "normal" if case.fill in OF_ONE and name != _find_one(case) else case.fill
    if fill in REPORTS:
        values = np.resize(np.array(REPORTS[fill]), shape)
    elif fill in FILLS:
        values = FILLS[fill](bits, shape, dtype)
        if fill in BY_POSITION:
            values = place_values(fill, values, [n for n, _ in case.tensors].index(name))
        if fill == PADDED and name in _ADDED:  # it shuts places out
            values = np.where(draw_padded(bits, shape) > 0, values, -np.inf)
        if fill == SPECIAL_PAIRS:
            values = draw_special_pairs(bits, shape, [n for n, _ in case.tensors].index(name))
    elif fill in INTEGER_FILLS:
        raise CaseError(f"fill {fill!r} draws integers, and {case} is of floats: expected another one.")
    elif is_pairs(fill):
        number, first = [n for n, _ in case.tensors].index(name), not case.seed and salt == "variant=0"
        values = draw_pairs(fill, shape, dtype, number, None if first else bits_of(f"{case}|pairs|{salt}"))
    elif is_every(fill):
        in_order = name == case.tensors[0][0] and not case.seed and salt == "variant=0"
        values = draw_every(fill, shape, dtype, None if in_order else bits)
    else:
        known = [*FILLS, EVERY, *REPORTS]
        hint = suggest(case.fill, known)
        raise CaseError(f"unknown fill {case.fill!r} in {case}: expected one of {', '.join(known)}{hint}")
    if _is_single(case, shape) and fill in _MODERATE:
        values = _MODERATE[fill](values)
    if constraint is not None and not is_unconstrained(fill):
        values = _constrain(values, constraint)
    return _as_array(round_to(values, dtype), shape)


def _draw_integers(case: Case, shape: Shape, constraint: Any, bits: Bits) -> Floats:
    """Integers of the case's dtype. Raises CaseError for a fill that draws none."""
    if case.fill not in INTEGER_FILLS:
        known = ", ".join(INTEGER_FILLS)
        raise CaseError(f"fill {case.fill!r} draws no integers in {case}: expected one of {known}.")
    dtype = DTYPES[case.dtype]
    values = INTEGER_FILLS[case.fill](bits, shape, dtype)
    if _is_single(case, shape):  # see _MODERATE
        values = np.where(np.abs(values) < 2, 2.0, values)
    return _as_array(confine(values, constraint, dtype), shape)


#: Masks that are added.
_ADDED = ("attn_mask", "mask")
#: What a fill of OF_ONE is about, where not about the first tensor: masks that are added, steps of time.
_ABOUT = {"far": _ADDED, PAST_EXP: ("dt",)}


def _find_one(case: Case) -> str:
    """The tensor that a fill of OF_ONE is about."""
    for name in _ABOUT.get(case.fill, ()):
        if name in case.shapes:
            return name
    return next((name for name, shape in case.shapes.items() if shape), case.tensors[0][0])


def _as_array(values: Any, shape: Shape) -> Floats:
    """An array of its own, also of no axes, where NumPy's arithmetic makes a scalar."""
    return np.array(values, dtype=np.float64).reshape(shape)


def _draw_indices(bits: Bits, shape: Shape, allowed: range) -> NDArray[np.int64]:
    picked = draw_below(bits, math.prod(shape), max(len(allowed), 1)).astype(np.int64)
    if len(allowed) > 1 and picked.size > 1 and (picked == picked.flat[0]).all():
        picked.flat[0] = (picked.flat[0] + 1) % len(allowed)  # all alike, a mask would decide everything
    if len(allowed) > max(picked.size, _FAR_APART) and picked.size > 1:  # few of many: the ends would seldom be drawn
        picked.flat[0], picked.flat[-1] = len(allowed) - 1, 0
    return (allowed.start + allowed.step * picked).reshape(shape)


def _is_single(case: Case, shape: Shape) -> bool:
    """Whether a tensor of `shape` is one number beside larger tensors."""
    return math.prod(shape) == 1 and any(math.prod(s) > 1 for s in case.shapes.values())


#: One number beside many may decide them all, or change none (a factor of 1, a bound beyond the data): it is drawn so
#: that it cannot. Of magnitude 1/4 to 3/4; on the grid of ties; an integer other than 0 and 1.
_MODERATE: dict[str, Callable[[Floats], Floats]] = {
    "normal": lambda v: np.copysign(np.abs(v) % 1 / 2 + 0.25, v),
    "kink": lambda v: np.copysign(0.5, v),
    "ties": lambda v: np.copysign(0.5, v),
    "halves": lambda v: np.copysign(0.5, v),
    "exact": lambda v: np.copysign(np.maximum(np.abs(v), 2.0), v),
    "signs": lambda v: np.full_like(v, -1.0),
}


def _constrain(values: Floats, constraint: Any) -> Floats:
    if isinstance(constraint, str):
        values = np.where(np.abs(values) < 2**-4, values + np.where(values < 0, -0.5, 0.5), values)
        if constraint == "nonzero":
            return values
        return make_definite(values) if constraint == "definite" else make_regular(values)
    low, high = constraint.within if isinstance(constraint, Closed) else constraint
    if np.isinf(low) and np.isinf(high):
        return values
    if np.isinf(high):
        return low + np.maximum(np.abs(values - low), 2.0**-6)
    if np.isinf(low):
        return high - np.maximum(np.abs(values - high), 2.0**-6)
    return (low + high) / 2 + (high - low) / 2 * (values / (1 + np.abs(values)))  # type: ignore[no-any-return]
