"""Whether a right answer is the same bits again: called many times, and with only some of its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from opproof.core.arrays import Array, same_bits
from opproof.core.verdicts import Mode
from opproof.harness.reference.chunks.blocks import Axis, Region, axes_of, region
from opproof.harness.reference.question import output_names
from opproof.harness.run.calls import ON_END, differ
from opproof.harness.run.question import Question, Wanted

#: Calls on end: where one in five gives other bits, sixteen are alike in 3 of 100 series.
_ON_END = 17
Call = Callable[[Question], Sequence[Array | None]]


@dataclass(frozen=True)
class Part:
    """Some of the slices of a question along one axis: the question of them alone, and where its results lie."""

    asked: Question
    results: tuple[Region | None, ...]  # in each result of the whole; None where all slices share it
    words: str


def unrepeated(call: Call, asked: Question, other: Question, answer: Sequence[Array | None], repeat: int) -> str:
    """Which of `repeat` calls, with calls of other data between, gave other bits, in words; empty where none did."""
    for k in range(2, repeat + 1):
        call(other)
        if where := difference(answer, call(asked), asked.wanted):
            return f"call {k} of {repeat} gave other bits than the first: {where}"
    return ""


def where_others_lay(call: Call, asked: Question, other: Question) -> Sequence[Array | None]:
    """The answer once more, where other data have just lain in its memory, and their results in that of its own.

    What is kept of a tensor by its address, weights that were packed, is then that of the other data, and who looks
    whether results are poisoned, or pages beside tensors closed, sees what a program's memory holds.
    """
    call(replace(other, at_end=asked.at_end))
    return call(replace(asked, as_left=True).softened())


def stale(
    call: Call, asked: Question, other: Question, answer: Sequence[Array | None], again: Sequence[Array | None] | None
) -> str:
    """Which bits were others where other data had lain in the memory of the call, in words; empty where none were.

    That this is the cause is said where it has the same effect once more, and the call alone gives the same bits.
    """
    where = "" if again is None else difference(answer, again, asked.wanted)
    if not where or again is None:
        return ""
    if differ([again, where_others_lay(call, asked, other)]) or differ(on_end(call, asked)):
        return f"the same call gave other bits {ON_END}: {where}"
    why = "as of what is kept by address, or where no memory is poisoned or closed"
    return f"other bits where other data had lain in its memory, {why}: {where}"


def on_end(call: Call, asked: Question) -> Sequence[Sequence[Array | None]]:
    """Answers to one question with no other call between: where they differ, nothing that was kept is to blame.

    Those that are alike are one: a large answer is held as often as it differs.
    """
    call(asked)  # it may have what a call before it left
    answers: list[Sequence[Array | None]] = []
    for _ in range(_ON_END - 1):
        answer = call(asked)
        answers.append(next((one for one in answers if not differ([one, answer])), answer))
    return answers


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
    for axis in axes_of(posed.case, posed.op):
        if posed.op.independent is None and -1 in axis.of.values():
            continue  # single elements are beside others in their row as well
        if all(axis.sharing(n, shape) in (1, axis.extent) for n, shape in posed.case.shapes.items()):
            for block in ((axis.extent // 2, axis.extent // 2 + 1), (1, axis.extent)):
                yield _part(asked, axis, block)


def _part(asked: Question, axis: Axis, block: tuple[int, int]) -> Part:
    posed = asked.posed

    def place(name: str | None, shape: tuple[int, ...]) -> Region | None:
        whole = name is None or axis.sharing(name, shape) == axis.extent
        return None if name is None or whole else region((axis,), (block,), name, shape)

    def taken(name: str | None, x: Array | None) -> Array | None:
        where = None if x is None else place(name, x.shape)
        return x if x is None or where is None else x[where].copy()

    outputs = output_names(posed.op, len(posed.cotangents) or len(asked.wanted))
    inputs = tuple(taken(n, x) for n, x in zip(posed.names, posed.inputs, strict=True))
    cotangents = tuple(taken(n, g) for n, g in zip(outputs[: len(posed.cotangents)], posed.cotangents, strict=True))
    given = zip(posed.names, inputs, strict=True)
    shapes = {n: x.shape for n, x in given if n is not None and x is not None}
    case = replace(posed.case, tensors=tuple((name, shapes[name]) for name, _ in posed.case.tensors))
    names = outputs if posed.mode is Mode.FORWARD else posed.names
    results = tuple(None if w is None else place(n, w.shape) for n, w in zip(names, asked.wanted, strict=True))
    wanted = tuple(w if w is None or r is None else _resized(w, r) for w, r in zip(asked.wanted, results, strict=True))
    few = posed.given(case=case, inputs=inputs, cotangents=cotangents)
    first, last = block
    rows = f"slice {first}" if last == first + 1 else f"slices {first} to {last - 1}"
    along = ", ".join(f"axis {at} of {name}" for name, at in axis.of.items() if name in shapes)
    return Part(replace(asked, posed=few, wanted=wanted), results, f"{rows} along {along}")


def _resized(wanted: Wanted, where: Region) -> Wanted:
    return replace(wanted, shape=tuple(s.stop - s.start for s in where))


def difference(first: Sequence[Array | None], second: Sequence[Array | None], wanted: Sequence[Wanted | None]) -> str:
    """The first element whose bits differ, in words; empty where none do."""
    for a, b, want in zip(first, second, wanted, strict=True):
        if a is None or b is None or want is None or same_bits(a, b):
            continue
        words = np.dtype(f"u{a.dtype.itemsize}")
        unlike = np.ascontiguousarray(a).view(words) != np.ascontiguousarray(b).view(words)
        index = tuple(int(i) for i in np.argwhere(unlike.reshape(a.shape))[0])
        return f"{want.name} at {list(index)} is {b[index]}, not {a[index]}"
    return ""
