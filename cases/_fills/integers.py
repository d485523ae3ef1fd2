"""How integers are drawn, in dtypes that hold no others: small ones, any, and those at the ends of the range."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from opproof.cases._case import Shape
from opproof.cases._fills.random_bits import SKIPPED_BITS, Bits, Fill, Floats, choose, draw_below
from opproof.core.arrays import Whole
from opproof.core.dtypes import Dtype, round_to

#: What ordinary fills draw between: few enough that some meet.
_SMALL = 12


def _fill_any(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    count = int(dtype.max - dtype.min) + 1
    raw = draw_below(bits, math.prod(shape), count)
    return (raw.astype(np.float64) + dtype.min).reshape(shape)


def _fill_ends(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """The largest and the least number, their neighbours, 0, 1 and -1, a few small ones: each of them is met."""
    ends = (dtype.min, dtype.max, dtype.min + 1, dtype.max - 1, 0.0, 1.0, -1.0, 2.0)
    values = np.array([v for v in ends if dtype.min <= v])
    picked = choose(bits, shape, values)
    order = np.argsort(bits(picked.size), kind="stable")[: values.size]
    picked.flat[order] = values[: order.size]
    return picked


def _fill_past_f32(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """Half of them of 25 binary digits, one more than float32 has (in narrower dtypes the last); zeros, small ones."""
    raw = bits(math.prod(shape)) >> SKIPPED_BITS
    large = ((raw >> np.uint64(3)) % np.uint64(2**24)).astype(np.float64) + 2**24
    signed = np.where(raw % np.uint64(2) == 0, large, -large).reshape(shape)
    small = choose(bits, shape, np.arange(max(dtype.min, -_SMALL), _SMALL + 1))
    turn = (raw % np.uint64(8)).reshape(shape)
    narrow = np.mod(signed - dtype.min, dtype.max - dtype.min + 1) + dtype.min
    return np.where(turn < 4, narrow, np.where(turn == 4, 0.0, small))


def _fill_mixed(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """Half of them small, a quarter any, a quarter at the ends."""
    turn = draw_below(bits, math.prod(shape), 4)
    small = choose(bits, shape, np.arange(max(dtype.min, -_SMALL), _SMALL + 1))
    drawn = np.choose(turn.astype(np.int64).reshape(shape), [small, small, _fill_any(bits, shape, dtype), small])
    return np.where(turn.reshape(shape) == 3, _fill_ends(bits, shape, dtype), drawn)


def _make_few(*values: float) -> Fill:
    return lambda bits, shape, dtype: round_to(choose(bits, shape, np.array(values)), dtype)


def _fill_constant(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    return np.broadcast_to(_fill_mixed(bits, (*shape[:-1], 1) if shape else (), dtype), shape).copy()


def _fill_alone(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """Rows in turn: ordinary; of the least number alone, of the largest, of 0."""
    values = _fill_mixed(bits, shape, dtype)
    if values.size and shape:
        rows = values.reshape(-1, shape[-1])
        for kind, number in enumerate((dtype.min, dtype.max, 0.0), 1):
            rows[kind::4] = number
    return values


#: How values are drawn. Each takes raw bits, a shape and the dtype, and returns float64.
INTEGER_FILLS: dict[str, Fill] = {
    "normal": _fill_mixed,
    "ends": _fill_ends,
    "past-f32": _fill_past_f32,
    "exact": _make_few(-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0),
    "signs": _make_few(-1.0, 0.0, 1.0),
    "ties": _make_few(-2.0, -1.0, 0.0, 1.0, 2.0),
    "zeros": lambda b, s, d: _fill_mixed(b, s, d) * (_fill_any(b, s, d) % 2 == 0),
    "constant": _fill_constant,
    "alone": _fill_alone,
    "positive": lambda b, s, d: np.clip(np.abs(_fill_mixed(b, s, d)), 1, d.max),
    "negative": lambda b, s, d: np.clip(-np.abs(_fill_mixed(b, s, d)), d.min, max(-1.0, d.min)),
}


def confine(values: Floats, constraint: Any, dtype: Dtype) -> Floats:
    """Return `values` as a domain wants them: no zeros, bits moved by fewer places than there are."""
    if constraint in ("nonzero", "regular"):
        return np.where(values == 0, 1.0, values)
    if isinstance(constraint, Whole) and constraint.places:
        return np.mod(values, 8.0 * dtype.numpy.itemsize)
    return values
