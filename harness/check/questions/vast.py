"""One axis longer than is counted in 16 bits: labels of an int16, a grid of 65,535 programs, a table of 8,192 rows.

Other axes are small there, so that there is time. Who asks says how long an axis he can bear: what a reference makes
of it, as scores of all queries and keys, its inputs do not tell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from opproof.core.arrays import Array
from opproof.harness.check.questions.sizes import Size, free_sizes, places_of, rare_size, shapes_after, shapes_of
from opproof.harness.check.questions.structure import whole
from opproof.harness.check.questions.variants import Variant
from opproof.harness.check.tensors import Tensor

#: Past 2^16, 2^14 and 2^13, and 3 past whole tiles.
SIZES = (66051, 16387, 8195)
#: What other axes are where they would make too many elements, and so many there may be.
_SMALL, _ELEMENTS = 5, 1 << 21
#: So many axes.
_AXES = 4
#: Numbers that reach less far into an axis do not point to its places.
_REACHES = 0.5

#: The size at which one axis is so long.
At = Callable[[int], Size]


def vast_sizes(given: Sequence[Tensor], named: frozenset[float]) -> Iterator[tuple[int, list[tuple[int, At]]]]:
    """Each axis, its new lengths, the longest first, and the sizes around each: others stay, or shrink."""
    shapes, found = shapes_of(given), free_sizes(given, named)[:_AXES]
    places = {n: places_of(n, shapes) for n in found}
    for n in found:
        small = {o: _SMALL for o in found if o not in (n, _SMALL)}
        ways = [partial(_among, n, rest, places) for rest in ({}, *([small] if small else []))]
        yield n, [(m, at) for m in SIZES for at in ways if _elements(shapes_after(shapes, at(m))) <= _ELEMENTS]


def _among(old: int, rest: Mapping[int, int], places: Mapping[int, Sequence[tuple[int, int]]], new: int) -> Size:
    """The size with `new` in place of `old`, and `rest` in place of others."""
    return rare_size({old: new, **rest}, places)


def to_the_end(variant: Variant, given: Sequence[Tensor], old: int, new: int) -> Variant | None:
    """With whole numbers that point to places of an axis of `old` spread over its `new` ones; None where none do."""
    spread = [i for i in whole(given) if _points_to(given[i], old)]
    if not spread:
        return None
    asked, other = (
        tuple(t.holding(_further(t, old, new)) if i in spread else t for i, t in enumerate(some))
        for some in (variant.asked, variant.other)
    )
    name = f"{variant.name}, {' and '.join(given[i].name for i in spread)} up to its end"
    return replace(variant, name=name, asked=asked, other=other, group="")


def _points_to(tensor: Tensor, size: int) -> bool:
    """Whether its largest number may be a place of an axis, or its end, and is in the further half."""
    most = int(tensor.values.max(initial=0))
    return _REACHES * size <= most <= size and np.iinfo(tensor.values.dtype).max >= max(SIZES)


def _further(tensor: Tensor, old: int, new: int) -> Array:
    """In the same order; what is negative, as a label that is left out, stays."""
    values = tensor.values
    wide = values.astype(np.int64)
    return np.asarray(np.where(wide > 0, wide * new // old, wide).astype(values.dtype))


def _elements(shapes: Sequence[tuple[int, ...]]) -> int:
    return sum(map(math.prod, shapes))
