"""Sizes and integers one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest

from opproof.harness.check.tensors import CONTIGUOUS, CallTensor
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
#: A step that meets all of them.
_SIZE_STRIDE = 53
#: So many axes' sizes, and so many numbers beside tensors.
_MAX_SWEPT_AXES = 4
_MAX_SWEPT_NUMBERS = 3
#: Less is an axis, a step, a switch.
_MIN_SWEPT_NUMBER = 5


def generate_swept_sizes(given: Sequence[CallTensor], named: frozenset[float]) -> Iterator[Size]:
    """Every size of a few axes, by turns."""
    shapes, found = shapes_of(given), free_sizes(given, named)[:_MAX_SWEPT_AXES]
    used = {n for s in shapes for n in s}
    first, rest = _order()[:_SIZES_BEFORE_LIMITS], _order()[_SIZES_BEFORE_LIMITS:]
    others = [m for m in (*_SIZES_PAST_CHUNKS, *first, *_SIZES_PAST_LIMITS, *rest, *_MODEL_SIZES) if m not in used]
    places = {n: places_of(n, shapes) for n in found}
    along = [[make_rare_size({n: m}, places) for m in others] for n in found]
    some = filter(None, chain.from_iterable(zip_longest(*along)))
    return (size for size in some if not is_too_large(shapes, apply_size(shapes, size)))


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


def _order() -> list[int]:
    """All of them, those of neighbours far apart: where time ends, those that are left are not all the larger."""
    return [_SMALL_SIZES[i * _SIZE_STRIDE % len(_SMALL_SIZES)] for i in range(len(_SMALL_SIZES))]
