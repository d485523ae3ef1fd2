"""Gradients of parts of a cotangent, which sum to that of the whole: a backward is linear in what comes in.

Nobody draws zeros there, or ones. A loss of one row leaves the cotangents of all others 0, and that of a sum is 1: a
backward that skips rows, and does not clear what it skips, or has a path of its own for ones, is wrong there alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.core.verdicts import WRONG, Mode, Verdict
from opproof.harness.check.sides.exchange import Answered, Reply, Request
from opproof.harness.check.sides.fences import Fence
from opproof.harness.check.sides.reference import Ask
from opproof.harness.check.trial.in_time import begun_in
from opproof.harness.check.trial.judge import judge_gradients
from opproof.harness.check.trial.off import own
from opproof.harness.check.trial.outcome import Right, Tried, with_failure
from opproof.harness.judge.judgement import Judged

#: How far they may be off: bounds of the whole's, and roundings of what cancels in their sum, of the largest too.
_BOUNDS, _ROUNDINGS, _OF_LARGEST = 8.0, 16.0, 4.0
#: Cotangents are whole numbers of eighths, so that parts of them sum to the whole in every dtype.
_STEP = 0.125
#: Of so many rows one has a cotangent.
_ROWS = 3


def in_parts(first: Right, ask: Ask, seconds: float) -> Tried | None:
    """WRONG_GRADIENT where the gradients of parts of a cotangent do not sum to the whole's."""
    request, judged = first.asked.request, first.judgements.get(Mode.GRADIENT)
    if judged is None or judged.verdict is not Verdict.PASS or first.reply.declined or request.after:
        return None
    coarse = [None if g is None else np.round(g / _STEP) * _STEP for g in request.cotangents]
    whole = _asked(ask, request, coarse)
    if whole is None:
        return None
    for part_of, where in begun_in(seconds, _PARTS):  # the first call between fences loads what watches over them
        part = [None if g is None else part_of(g) for g in coarse]
        rest = [None if g is None or p is None else g - p for g, p in zip(coarse, part, strict=True)]
        some, others = _asked(ask, request, part), _asked(ask, request, rest)
        if some is None or others is None:
            continue
        summed = replace(some, gradients=tuple(map(_sum, some.gradients, others.gradients)))
        wrong = judge_gradients(first.asked, own(replace(first, reply=whole)), summed)
        if wrong.verdict in WRONG and any(_is_far(w, *_parts_of(w, request, some, others)) for w in wrong.tensors):
            text = f"where {where}: with that of the other part of it, it sums to another gradient than the whole's"
            return with_failure(first, some, Mode.GRADIENT, replace(wrong, message=text))
    return None


def _asked(ask: Ask, request: Request, cotangents: Sequence[Array | None]) -> Reply | None:
    """The gradients for other cotangents, in memory that holds NaN where nothing was written; None where none came."""
    asked = replace(request, cotangents=tuple(cotangents))
    for fence in (Fence.BYTES, Fence.NONE):
        reply = ask(replace(asked, fence=fence))
        if not (reply.error or reply.failed or reply.declined):
            return reply
    return None


def _sum(a: Answered | None, b: Answered | None) -> Answered | None:
    """Of two gradients, of which None is 0."""
    if a is None or b is None:
        return a or b
    return replace(a, values=a.values + b.values) if a.values.shape == b.values.shape else a


def _parts_of(wrong: Judged, request: Request, some: Reply, others: Reply) -> tuple[Array, float]:
    """The size of what was summed, per element, and the unit roundoff of its dtype."""
    at = next(i for i, t in enumerate(request.tensors) if t.name == wrong.name)
    both = [r.gradients[at] for r in (some, others)]
    size = np.sum([np.abs(d.values) for d in both if d is not None], axis=0)
    return size, DTYPES[request.tensors[at].kind].u


def _is_far(wrong: Judged, size: Array, u: float) -> bool:
    """Whether a sum is off by more than roundings in what was summed explain."""
    allowed = _BOUNDS * wrong.comparison.bound + u * (_ROUNDINGS * size + _OF_LARGEST * np.max(size, initial=0.0))
    with np.errstate(invalid="ignore"):
        return bool((~(np.abs(wrong.got - wrong.expected.values) <= allowed)).any())


def _few_rows(g: Array) -> Array:
    """Every third row as it is, and zeros elsewhere; of one axis elements."""
    rows = g.reshape(-1, g.shape[-1]) if g.ndim > 1 else g.reshape(-1, 1)
    return np.where((np.arange(len(rows)) % _ROWS == 1)[:, None], rows, 0.0).reshape(g.shape)


_PARTS: tuple[tuple[Callable[[Array], Array], str], ...] = (
    (_few_rows, "the cotangent of most rows is 0"),
    (np.ones_like, "the cotangent is 1 everywhere"),
)
