"""Where an input lies in all inputs given: of one sign, or away from zero; and which variants leave that range.

A variance, a probability or a temperature is never negative, and a kernel for it need not answer what nobody asks.
Numbers of normal distribution are of both signs and near zero: they have no range.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from opproof.core.arrays import Array
from opproof.harness.check.tensors import PARTS, CallTensor
from opproof.harness.check.variants.properties import MIN_PROPERTY_BITS

#: Of the smallest size that was given, what is still no other range: another draw may be a little nearer to zero.
_NEARER_SHARE = 0.5


@dataclass(frozen=True)
class Range:
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


def find_ranges(draws: Iterable[Sequence[CallTensor]]) -> dict[str, Range]:
    """The ranges of those inputs that have one, by name. Parameters of modules have none: they are moved at will."""
    by_name: dict[str, list[CallTensor]] = {}
    for draw in draws:
        for t in draw:
            by_name.setdefault(t.name, []).append(t)
    found = {name: _find_range(some) for name, some in by_name.items()}
    return {name: one for name, one in found.items() if one.sign or one.least}


def describe_beyond(ranges: Mapping[str, Range], tensors: Sequence[CallTensor]) -> str:
    """How a variant's tensors leave the range of the first that does; empty where none does."""
    told = (ranges[t.name].describe_leaving(t.name, t.values) for t in tensors if t.name in ranges and t.kind)
    return next(filter(None, told), "")


def _find_range(draws: Sequence[CallTensor]) -> Range:
    none = Range(0, 0.0)
    if not all(t.kind and t.dtype not in PARTS and (t.buffer or not t.param) for t in draws):
        return none
    values = np.unique(np.concatenate([t.values.ravel() for t in draws]))
    if not values.size or not np.isfinite(values).all() or any(t.marks for t in draws):
        return none
    sign = 1 if values[0] >= 0 else -1 if values[-1] <= 0 else 0
    sizes = np.abs(values)
    least, most = float(sizes.min()), float(sizes.max())
    one_sign = float(values.size) if sign and most else 0.0
    away = -values.size * math.log2(1 - least / most) if 0 < least < most else 0.0
    if max(one_sign, away, one_sign + away) < MIN_PROPERTY_BITS:
        return none
    return Range(sign, least if away >= MIN_PROPERTY_BITS else 0.0)
