"""Rows that every operator's own rows give: tensors in orders of memory in which no file says how they lie.

A file's first plain row of a tensor is tried again in float32 with the tensor stored so:

    exchanged    its first two axes swapped, and rows as they were: a dense view whose rows stand in another order,
                 which a kernel that asks only whether a tensor is dense takes for contiguous
    channels     its second axis innermost
    broadcast    alone, of all tensors: the same matrix in every place of a batch, which products fold into one; and
                 cotangents, as what follows a sum along the first axis gives them
    one of 1     an axis of 1 has a stride of its own, with gaps or transposed: dense all the same, or not
    beside one   rows with gaps beside a tensor of one number, for which kernels have a path of their own
    two dtypes   rows with gaps of what is converted, where others have 16 bits
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

from opproof.cases._case import Case, Shape
from opproof.cases._layouts import COTANGENT, storage_of

#: Fills of ordinary numbers.
PLAIN = ("normal", "wide")
#: What a row has at most: all of these are cases of ordinary size.
LARGEST = 8192
#: Axes past which many kernels take another path, or none: cases of them are of that alone.
MANY = 6


def derived(cases: Iterable[Case]) -> list[Case]:
    """Cases of tensors that lie `exchanged` and with `channels` innermost, and of each that alone is `broadcast`."""
    listed = list(cases)
    plain = sorted(filter(is_plain, listed), key=lambda case: case.layout != "contiguous")
    strided = [*_lay_all(plain, "exchanged"), *_lay_all(plain, "channels"), *_repeat_alone(plain)]
    return [
        *strided,
        *_lay_axes_of_one(plain),
        *_lay_beside_one(plain),
        *_lay_converted(listed),
        *_lay_cotangents(plain),
    ]


def is_plain(case: Case) -> bool:
    """Whether a case is of ordinary numbers, sizes and ranks, its results in memory of their own."""
    usual = case.into == "contiguous" and not case.inplace and not case.mixed and case.needs is None
    once = not any(isinstance(shape, str) for _, shape in case.tensors)
    small = 0 < max(map(math.prod, case.shapes.values()), default=0) <= LARGEST
    low = max(map(len, case.shapes.values()), default=0) < MANY
    return case.dtype == "f32" and case.fill in PLAIN and usual and once and small and low


@functools.lru_cache(4096)  # of few shapes
def lies_otherwise(shape: Shape, layout: str) -> bool:
    """Whether `layout` gives a tensor of `shape` other strides, along axes longer than 1, than transposing it does."""
    found = [
        [s for s, n in zip(storage_of(shape, by).strides, shape, strict=True) if n > 1]
        for by in (layout, "contiguous", "transposed")
    ]
    return 0 not in shape and found[0] not in found[1:]


def _lay_all(plain: list[Case], layout: str) -> Iterator[Case]:
    """The first cases in which each tensor lies so, with all that can; along `dim` where that is the last, and else."""
    seen: set[tuple[str, bool]] = set()
    for case in plain:
        can = [name for name, shape in case.shapes.items() if lies_otherwise(shape, layout)]
        parts = {(name, along_rows(case, case.shapes[name])) for name in can}
        if not seen.issuperset(parts):
            seen.update(parts)
            yield replace(case, layout=",".join(f"{name}:{layout}" for name in can))


def along_rows(case: Case, shape: Shape) -> bool:
    """Whether what is done along `dim` is done along the last axis of a tensor of `shape`."""
    return case.kwargs.get("dim") in (-1, len(shape) - 1)


def _repeat_alone(plain: list[Case]) -> Iterator[Case]:
    """The first case, of batches alike if any, in which a tensor of a batch alone is repeated along its first axis."""
    seen: set[str] = set()
    for case in sorted(plain, key=_count_batches):
        for name, shape in case.shapes.items():
            if len(case.shapes) > 1 and len(shape) > 2 and shape[0] > 1 and name not in seen:
                seen.add(name)
                yield replace(case, layout=f"{name}:broadcast")


def _count_batches(case: Case) -> int:
    """How many batches of other sizes the tensors of a case have."""
    return len({shape[0] for shape in case.shapes.values() if len(shape) > 2})


def has_one(shape: Shape) -> bool:
    """Whether one of the last two axes alone is 1: its stride is then for nobody to see, or is a gap."""
    return len(shape) > 1 and 1 in shape[-2:] and math.prod(shape) > 1


def _lay_axes_of_one(plain: list[Case]) -> Iterator[Case]:
    """The first case in which a tensor has an axis of 1, that tensor with gaps and transposed; by which axis it is."""
    seen: set[tuple[str, bool]] = set()
    for case in plain:
        for name, shape in case.shapes.items():
            kind = (name, shape[-1:] == (1,))
            if case.layout == "contiguous" and has_one(shape) and kind not in seen:
                seen.add(kind)
                yield from (replace(case, layout=f"{name}:{by}") for by in ("gapped", "transposed"))


def is_beside_one(case: Case, name: str) -> bool:
    """Whether the tensor has rows and another of the case one number."""
    return len(case.shapes[name]) > 1 and case.shapes[name][-2] > 1 and 1 in map(math.prod, case.shapes.values())


def _lay_beside_one(plain: list[Case]) -> Iterator[Case]:
    """The first case in which a tensor stands beside one number, that tensor with gaps between its rows."""
    seen: set[str] = set()
    for case in plain:
        for name in case.shapes:
            if case.layout == "contiguous" and is_beside_one(case, name) and name not in seen:
                seen.add(name)
                yield replace(case, layout=f"{name}:gapped")


def is_converted(case: Case) -> bool:
    """Whether a case has data of float32 beside others of float16, all contiguous."""
    return case.dtype == "f32" and "f16" in case.dtypes and case.layout == "contiguous" and case.fill in PLAIN


def _lay_converted(cases: list[Case]) -> Iterator[Case]:
    """The first case of two dtypes, of the highest rank, what has the wider with gaps between its rows."""
    for case in sorted(filter(is_converted, cases), key=lambda case: -max(map(len, case.shapes.values())))[:1]:
        wide = [n for n, shape in case.shapes.items() if case.dtype_of(n) == "f32" and len(shape) > 1]
        if wide:
            yield replace(case, layout=",".join(f"{name}:gapped" for name in wide))


def of_cotangents(case: Case) -> bool:
    """Whether a case is another where its cotangents alone lie otherwise: it has nothing to ask but gradients."""
    return case.layout.startswith(f"{COTANGENT}:")


def _lay_cotangents(plain: list[Case]) -> Iterator[Case]:
    """The first case, of three axes or more if any and not along the first, with cotangents that are broadcast.

    Losses that are not reduced are summed, and so get one number for all.
    """
    for case in sorted(plain, key=_rank_by_hidden)[:1]:
        yield replace(case, layout=f"{COTANGENT}:broadcast")
    for case in [c for c in plain if c.kwargs.get("reduction") == "none"][:1]:
        yield replace(case, layout=f"{COTANGENT}:expanded")


def _rank_by_hidden(case: Case) -> tuple[bool, bool, bool]:
    """What makes equal cotangents along the first axis tell little of a case: no rows, work along it, no batch."""
    shape = next(iter(case.shapes.values()))
    dim = case.kwargs.get("dim")
    dims = dim if isinstance(dim, tuple) else (dim,)
    return len(shape) < 2 or shape[0] < 2, 0 in dims or -len(shape) in dims, len(shape) < 3
