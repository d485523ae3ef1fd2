"""Whether a right answer is the same bits again: called many times, and with only some of its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from opproof.harness.run.question import Question, Wanted
from opproof.harness.truth.posed import Posed, output_names
from opproof.reference_ops import Trait
from opproof.vocabulary.arrays import Array
from opproof.vocabulary.modes import Mode

Call = Callable[[Question], Sequence[Array | None]]
#: By the name of a tensor, input or output, the axis along which slices are independent, counted from the last.
Axes = Mapping[str, int]


@dataclass(frozen=True)
class Part:
    """Some of the slices of a question along one axis: the question of them alone, and where its results lie."""

    asked: Question
    results: tuple[tuple[slice, ...] | None, ...]  # in each result of the whole; None where all slices share it
    words: str


def unrepeated(call: Call, asked: Question, other: Question, answer: Sequence[Array | None], repeat: int) -> str:
    """Which of `repeat` calls, with calls of other data between, gave other bits, in words; empty where none did."""
    for k in range(2, repeat + 1):
        call(other)
        if where := difference(answer, call(asked), asked.wanted):
            return f"call {k} of {repeat} gave other bits than the first: {where}"
    return ""


def dependent(call: Call, asked: Question, answer: Sequence[Array | None]) -> str:
    """Which rows give other bits without the rows beside them, in words; empty where none do."""
    for part in parts(asked):
        whole = [None if a is None or r is None else a[r] for a, r in zip(answer, part.results, strict=True)]
        got = [None if r is None else g for g, r in zip(call(part.asked), part.results, strict=True)]
        if where := difference(whole, got, part.asked.wanted):
            return f"{part.words}, evaluated without the others, give other bits than among them: {where}"
    return ""


def parts(asked: Question) -> Iterator[Part]:
    """One row in the middle, and all but the first, along every axis whose slices are independent."""
    posed = asked.posed
    if any(isinstance(shape, str) for _, shape in posed.case.tensors) or 0 in sum(posed.case.shapes.values(), ()):
        return
    for axes in axes_of(posed):
        extents = {s[axes[n]] for n, s in posed.case.shapes.items() if n in axes and -axes[n] <= len(s)} - {1}
        if len(extents) == 1:
            extent = extents.pop()
            for first, last in ((extent // 2, extent // 2 + 1), (1, extent)):
                yield _part(asked, axes, extent, first, last)


def axes_of(posed: Posed) -> Sequence[Axes]:
    """The axes along which slices are independent: as the operator says; of single elements all but the last."""
    op, shapes = posed.op, posed.case.shapes
    if op.independent is not None:
        return tuple(op.independent(shapes, **posed.params))
    if Trait.POINTWISE not in op.traits or len(set(shapes.values())) != 1:
        return ()
    rank = len(next(iter(shapes.values())))
    return [dict.fromkeys((*shapes, *op.outputs), -k) for k in range(rank, 1, -1)]


def _part(asked: Question, axes: Axes, extent: int, first: int, last: int) -> Part:
    posed = asked.posed

    def region(name: str | None, shape: Sequence[int]) -> tuple[slice, ...] | None:
        at = None if name is None else axes.get(name)
        if at is None or -at > len(shape) or shape[at] != extent:
            return None
        taken = [slice(None)] * len(shape)
        taken[at] = slice(first, last)
        return tuple(taken)

    def taken(name: str | None, x: Array | None) -> Array | None:
        place = None if x is None else region(name, x.shape)
        return x if x is None or place is None else x[place].copy()

    outputs = output_names(posed.op, len(posed.cotangents) or len(asked.wanted))
    inputs = tuple(taken(n, x) for n, x in zip(posed.names, posed.inputs, strict=True))
    cotangents = tuple(taken(n, g) for n, g in zip(outputs[: len(posed.cotangents)], posed.cotangents, strict=True))
    given = zip(posed.names, inputs, strict=True)
    shapes = {n: x.shape for n, x in given if n is not None and x is not None}
    case = replace(posed.case, tensors=tuple((name, shapes[name]) for name, _ in posed.case.tensors))
    names = outputs if posed.mode is Mode.FORWARD else posed.names
    results = tuple(None if w is None else region(n, w.shape) for n, w in zip(names, asked.wanted, strict=True))
    wanted = tuple(w if w is None or r is None else _resized(w, r) for w, r in zip(asked.wanted, results, strict=True))
    few = posed.given(case=case, inputs=inputs, cotangents=cotangents)
    rows = f"slice {first}" if last == first + 1 else f"slices {first} to {last - 1}"
    along = ", ".join(f"axis {at} of {name}" for name, at in axes.items() if name in shapes)
    return Part(replace(asked, posed=few, wanted=wanted), results, f"{rows} along {along}")


def _resized(wanted: Wanted, region: Sequence[slice]) -> Wanted:
    shape = tuple(len(range(*s.indices(n))) for s, n in zip(region, wanted.shape, strict=True))
    return replace(wanted, shape=shape)


def difference(first: Sequence[Array | None], second: Sequence[Array | None], wanted: Sequence[Wanted | None]) -> str:
    """The first element whose bits differ, in words; empty where none do."""
    for a, b, want in zip(first, second, wanted, strict=True):
        if a is None or b is None or want is None or a.tobytes() == b.tobytes():
            continue
        words = np.dtype(f"u{a.dtype.itemsize}")
        unlike = np.ascontiguousarray(a).view(words) != np.ascontiguousarray(b).view(words)
        index = tuple(int(i) for i in np.argwhere(unlike)[0])
        return f"{want.name} at {list(index)} is {b[index]}, not {a[index]}"
    return ""
