"""Whether an answer is kept by half of what it depends on: asked again with the other half of every tensor changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from opproof.cases._layouts import layouts_of
from opproof.core.arrays import Array
from opproof.harness.run.calls import same_bits
from opproof.harness.run.question import Question, Settled

#: Elements of a tensor that lies so are one place in memory, which holds one number.
_SHARED = "broadcast"
Answered = tuple[Question, Sequence[Array | None]]


def asked_by_halves(
    call: Callable[[Question], Sequence[Array | None]], asked: Question, other: Question, *, late: bool
) -> list[Answered]:
    """The questions that share half of every tensor with `asked`, and their answers.

    A backend that cannot take such data, a matrix that is no longer what it has to be, has said nothing.
    """
    answered = []
    for question in halves(asked, other, late=late):
        try:
            answered.append((question, call(question)))
        except Settled:
            continue
    return answered


def halves(asked: Question, other: Question, *, late: bool) -> Iterator[Question]:
    """Questions of which every second element of a float tensor is that of `asked`, or one end is; the rest `other`'s.

    `late`: it is the odd elements, and the end.
    """
    posed = asked.posed
    layouts = layouts_of(posed.case)
    pairs = list(zip(posed.names, posed.inputs, other.posed.inputs, strict=True))
    for alternate in (True, False):
        mixed: dict[int, Array] = {}  # one array given twice stays one
        for name, x, y in pairs:
            if x is None or y is None or name is None or layouts[name] == _SHARED:
                continue
            if x.dtype.kind == "f" and x.shape == y.shape and x.size > 1:
                at = np.arange(x.size).reshape(x.shape)
                own = (at % 2 if alternate else at >= x.size // 2) == late
                mixed[id(x)] = np.where(own, x, y)
        if mixed:
            inputs = tuple(x if x is None else mixed.get(id(x), x) for _, x, _ in pairs)
            yield replace(asked, posed=posed.given(inputs=inputs))


def taken_for(answered: Sequence[Answered], answer: Sequence[Array | None], wrong: Callable[[Answered], bool]) -> str:
    """That an answer to a question of other data is the judged one and is `wrong`, in words; empty where none is."""
    for one in answered:
        if same_bits(one[1], answer) and wrong(one):
            return "the answer stays where half of the elements are others: it is kept by the rest"
    return ""
