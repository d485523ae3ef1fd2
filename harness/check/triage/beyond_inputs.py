"""Where no given input lies: beyond the range of all that were given, and rows of zeros that none of them has.

A variance, a probability or a temperature is never negative, and a kernel for it need not answer what nobody asks.
Numbers of normal distribution are of both signs and near zero: they have no range. Of a row of zeros a reference's own
epsilon decides what comes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.core.verdicts import FAILED, WRONG
from opproof.harness.check.judge.outcome import VariantResult
from opproof.harness.check.tensors import PARTS, CallTensor
from opproof.harness.check.variants.properties import MIN_PROPERTY_BITS, varies
from opproof.harness.judge.judgement import JudgedTensor

#: Of the smallest size that was given, what is still no other range: another draw may be a little nearer to zero.
_NEARER_SHARE = 0.5
#: Of the largest size that was given, what the smallest has to be to lie away from zero.
_MIN_AWAY_SHARE = 1 / 16


@dataclass(frozen=True)
class GivenRange:
    """Of one input: the sign that all of its numbers have, 0 for both; and the size that none is below, 0 for none."""

    sign: int
    least: float

    def describe_leaving(self, name: str, values: Array) -> str:
        """How values leave the range, in words; empty where they do not."""
        numbers = values[np.isfinite(values)]
        if self.sign and (self.sign * numbers < 0).any():
            given = "positive" if self.sign > 0 else "negative"
            return f"{name} is not {given} there, as it is in all inputs given"
        if self.least and (np.abs(numbers) < _NEARER_SHARE * self.least).any():
            return f"{name} comes nearer to 0 there than {self.least:.3g}, the nearest of all inputs given"
        return ""


def find_ranges(draws: Iterable[Sequence[CallTensor]]) -> dict[str, GivenRange]:
    """The ranges of those inputs that have one, by name. Parameters of modules have none: they are moved at will."""
    by_name: dict[str, list[CallTensor]] = {}
    for draw in draws:
        for t in draw:
            by_name.setdefault(t.name, []).append(t)
    found = {name: _find_range(some) for name, some in by_name.items()}
    return {name: one for name, one in found.items() if one.sign or one.least}


def describe_beyond(ranges: Mapping[str, GivenRange], tensors: Sequence[CallTensor]) -> str:
    """How a variant's tensors leave the range of the first that does; empty where none does."""
    told = (ranges[t.name].describe_leaving(t.name, t.values) for t in tensors if t.name in ranges and t.kind)
    return next(filter(None, told), "")


def _find_range(draws: Sequence[CallTensor]) -> GivenRange:
    none = GivenRange(0, 0.0)
    if not all(t.kind and t.dtype not in PARTS and (t.buffer or not t.param) for t in draws):
        return none
    values = np.unique(np.concatenate([t.values.ravel() for t in draws]))
    if not values.size or not np.isfinite(values).all() or any(t.marks for t in draws):
        return none
    sign = 1 if values[0] >= 0 else -1 if values[-1] <= 0 else 0
    sizes = np.abs(values)
    least, most = float(sizes.min()), float(sizes.max())
    one_sign = float(values.size) if sign and most else 0.0
    away = -values.size * math.log2(1 - least / most) if _MIN_AWAY_SHARE * most <= least < most else 0.0
    if max(one_sign, away, one_sign + away) < MIN_PROPERTY_BITS:
        return none
    return GivenRange(sign, least if away >= MIN_PROPERTY_BITS else 0.0)


#: What is said of a variant with such rows.
OF_ZEROS = "{} has a row of zeros there, which no given input has: the reference's own epsilon decides what is right"

#: Of a tensor, per axis, the places along all other axes whose row is zero.
_ZeroRows = Mapping[int, NDArray[np.bool_]]


def describe_rows_of_zeros(one: VariantResult, draws: Sequence[Sequence[CallTensor]], *, has_floor: bool) -> str:
    """Why all that is wrong is left to an epsilon; empty where it is not. NaN and infinities are never left to it.

    `has_floor`: whether the reference adds a small number, or a function that it calls does.
    """
    failed = [j for j in one.judgements.values() if j.verdict in FAILED]
    if not has_floor or not failed or any(j.verdict not in WRONG or not j.tensors for j in failed):
        return ""
    given = {name for draw in draws for name, _ in _iter_rows(draw)}
    rows = [(name, zero) for name, zero in _iter_rows(one.variant.case_data) if name not in given]
    wrong = [t for j in failed for t in j.tensors if not t.comparison.right]
    if not wrong:
        return ""
    for name, zero in rows:
        if all(_is_in_rows(t, zero) for t in wrong):
            return OF_ZEROS.format(name)
    return ""


def _iter_rows(draw: Sequence[CallTensor]) -> Iterator[tuple[str, _ZeroRows]]:
    """The names of tensors with rows of zeros, and these; of rows with one number nothing is told."""
    for t in draw:
        if not varies(t) or t.values.size < 2:
            continue
        zero: _ZeroRows = {a: np.asarray(~t.values.any(a)) for a, n in enumerate(t.values.shape) if n > 1}
        if any(mask.any() for mask in zero.values()):
            yield t.name, zero


def _is_in_rows(judged: JudgedTensor, zero: _ZeroRows) -> bool:
    """Whether all that is wrong of an array is finite, and in such a row or what is computed of it."""
    wrong, got = ~judged.comparison.passed, np.asarray(judged.got)
    if not np.isfinite(got[wrong]).all() or not np.isfinite(judged.expected.values[wrong]).all():
        return False
    return any(_is_within(wrong, mask, axis) for axis, mask in zero.items())


def _is_within(wrong: Array, mask: NDArray[np.bool_], axis: int) -> bool:
    """Whether what is wrong is of rows along an axis: in their elements, or in what they were reduced to."""
    whole = np.expand_dims(mask, axis)
    if wrong.ndim == whole.ndim and all(n in (1, m) for n, m in zip(whole.shape, wrong.shape, strict=True)):
        return not (wrong & ~whole).any()
    return wrong.shape == mask.shape and not (wrong & ~mask).any()
