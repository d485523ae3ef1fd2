"""Sizes and integers one after the other, and one axis longer than is counted in 16 bits: as labels, as a grid."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, zip_longest

import numpy as np

from opproof.core.arrays import Array
from opproof.harness.check.tensors import CONTIGUOUS, CallTensor
from opproof.harness.check.variants.properties import find_whole_numbers
from opproof.harness.check.variants.sizes import (
    Size,
    apply_size,
    free_sizes,
    is_too_large,
    make_rare_size,
    places_of,
    shapes_of,
)
from opproof.harness.check.variants.variant import Pair, Variant, name_of

#: From the first that is no count of taps to past the usual tile of 128, integers of tiles as models have, and
#: sizes past usual limits that leave 3 of any tile. Not more: scores of 8,192 queries and keys fill gigabytes.
_SMALL_SIZES = range(4, 131)
_MODEL_SIZES = (*range(160, 513, 32), 576, 640, 768, 896, 960, 1024, 1152, 1280, 1536, 1792, 2048, 2560, 3072, 4096)
_SIZES_PAST_LIMITS, _SIZES_BEFORE_LIMITS = (1283, 2051, 4099), 40
#: Before all: more than one tile or chunk of 64, 128 and 256, of which a slow reference leaves no time to judge many.
_SIZES_PAST_CHUNKS = (147, 291)
#: A step that meets all of them, and one for each axis that gets another size together with the others.
_SIZE_STRIDE, _SIZE_STRIDES_TOGETHER = 53, (17, 29, 41, 59)
#: So many axes' sizes, and so many numbers beside tensors; so many times all sizes together.
_MAX_SWEPT_AXES = 4
_MAX_SWEPT_NUMBERS = 3
_SIZES_TOGETHER = 96
#: Sizes together are less than this, so that small ones meet each other.
_MAX_SIZE_TOGETHER = 36
#: Less is an axis, a step, a switch.
_MIN_SWEPT_NUMBER = 5


def generate_swept_sizes(given: Sequence[CallTensor], named: frozenset[float]) -> Iterator[Size]:
    """Every size of a few axes, by turns, and others of all axes together."""
    shapes, found = shapes_of(given), free_sizes(given, named)[:_MAX_SWEPT_AXES]
    used = {n for s in shapes for n in s}
    first, rest = _order()[:_SIZES_BEFORE_LIMITS], _order()[_SIZES_BEFORE_LIMITS:]
    others = [m for m in (*_SIZES_PAST_CHUNKS, *first, *_SIZES_PAST_LIMITS, *rest, *_MODEL_SIZES) if m not in used]
    places = {n: places_of(n, shapes) for n in found}
    along = [[make_rare_size({n: m}, places) for m in others] for n in found]
    if len(found) > 1:
        along.append(
            [
                make_rare_size(dict(zip(found, _choose_sizes_together(i), strict=False)), places)
                for i in range(_SIZES_TOGETHER)
            ]
        )
    some = filter(None, chain.from_iterable(zip_longest(*along)))
    return (size for size in some if not is_too_large(shapes, size.new))


def generate_swept_numbers(pair: Pair, rest: Sequence[object], names: Sequence[str]) -> Iterator[Variant]:
    """Every integer up to twice a given one, where no tensor holds integers, whose largest it may be."""
    if not all(t.kind for t in pair[0]):
        return
    places = [i for i, v in enumerate(rest) if type(v) is int and v >= _MIN_SWEPT_NUMBER][:_MAX_SWEPT_NUMBERS]
    along = []
    for i in places:
        value = rest[i]
        assert isinstance(value, int)
        name = name_of(names, i)
        some = [m for m in _order() if _MIN_SWEPT_NUMBER <= m <= 2 * value and m != value]
        along.append([(f"{name} as {m}", (*rest[:i], m, *rest[i + 1 :])) for m in some])
    for text, other in filter(None, chain.from_iterable(zip_longest(*along))):
        yield Variant(text, text.replace(" ", "-"), CONTIGUOUS, *pair, rest=other, rare=True)


def _choose_sizes_together(i: int) -> list[int]:
    """The i-th sizes of all axes, each in steps of its own."""
    return [_SMALL_SIZES[i * step % (_MAX_SIZE_TOGETHER - _SMALL_SIZES.start)] for step in _SIZE_STRIDES_TOGETHER]


def _order() -> list[int]:
    """All of them, those of neighbours far apart: where time ends, those that are left are not all the larger."""
    return [_SMALL_SIZES[i * _SIZE_STRIDE % len(_SMALL_SIZES)] for i in range(len(_SMALL_SIZES))]


#: Past 2^16, 2^14 and 2^13, and 3 past whole tiles.
LONG_AXIS_SIZES = (66051, 16387, 8195)
#: What other axes are where they would make too many elements, and so many there may be.
_SHRUNK_SIZE = 5
_MAX_ELEMENTS = 1 << 21
#: So many axes.
_MAX_LONG_AXES = 4
#: Numbers that reach less far into an axis do not point to its places.
_MIN_REACH_SHARE = 0.5

#: The size at which one axis is so long.
At = Callable[[int], Size]


def generate_long_axes(
    given: Sequence[CallTensor], named: frozenset[float]
) -> Iterator[tuple[int, list[tuple[int, At]]]]:
    """Each axis, its new lengths, the longest first, and the sizes around each: others stay, or shrink."""
    shapes, found = shapes_of(given), free_sizes(given, named)[:_MAX_LONG_AXES]
    places = {n: places_of(n, shapes) for n in found}
    for n in found:
        small = {o: _SHRUNK_SIZE for o in found if o not in (n, _SHRUNK_SIZE)}
        ways = [partial(_make_size, n, rest, places) for rest in ({}, *([small] if small else []))]
        yield (
            n,
            [
                (m, at)
                for m in LONG_AXIS_SIZES
                for at in ways
                if sum(map(math.prod, apply_size(shapes, at(m)))) <= _MAX_ELEMENTS
            ],
        )


def _make_size(old: int, rest: Mapping[int, int], places: Mapping[int, Sequence[tuple[int, int]]], new: int) -> Size:
    """The size with `new` in place of `old`, and `rest` in place of others."""
    return make_rare_size({old: new, **rest}, places)


def to_the_end(variant: Variant, given: Sequence[CallTensor], old: int, new: int) -> Variant | None:
    """With integers that point to places of an axis of `old` spread over its `new` ones; None where none do."""
    spread = [i for i in find_whole_numbers(given) if _points_to(given[i], old)]
    if not spread:
        return None
    asked, other = (
        tuple(t.holding(_extend_values(t, old, new)) if i in spread else t for i, t in enumerate(some))
        for some in (variant.case_data, variant.decoy_data)
    )
    name = f"{variant.name}, {' and '.join(given[i].name for i in spread)} up to its end"
    return replace(variant, name=name, case_data=asked, decoy_data=other, group="")


def _points_to(tensor: CallTensor, size: int) -> bool:
    """Whether its largest number may be a place of an axis, or its end, and is in the further half."""
    most = int(tensor.values.max(initial=0))
    return _MIN_REACH_SHARE * size <= most <= size and np.iinfo(tensor.values.dtype).max >= max(LONG_AXIS_SIZES)


def _extend_values(tensor: CallTensor, old: int, new: int) -> Array:
    """In the same order; what is negative, as a label that is left out, stays."""
    values = tensor.values
    wide = values.astype(np.int64)
    return np.asarray(np.where(wide > 0, wide * new // old, wide).astype(values.dtype))
