"""Values at which the reference does not say what is right: it overflows in float32 itself, or is NaN of numbers.

Who raises there, as a solver does of a singular matrix, is not wrong either.

Of a wrong answer that excuses the elements where it is so, and those where the candidate has no number either. One that
is wrong in others is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.core.verdicts import WRONG, Mode, Verdict
from opproof.harness.check.doubts.excused import places_of
from opproof.harness.check.sides.exchange import Answered
from opproof.harness.check.sides.facts import Facts
from opproof.harness.check.sides.reference import Reference
from opproof.harness.check.tensors import PARTS
from opproof.harness.judge.judgement import Judgement
from opproof.harness.reference.expected import Expected
from opproof.harness.reference.torch.evaluate import Truth

Judgements = Mapping[Mode, Judgement]


def overflows(reference: Reference, asked: Facts, known: Truth, judgements: Judgements) -> bool:
    """Whether all that is wrong is where the reference in float32 is not finite though the truth is, or came as none.

    Where its steps overflow on the way to what is infinite it is NaN, as inf - inf is, and that says as little.
    """
    wide = tuple(replace(t, dtype="float32") if t.kind in ("f16", "bf16") else t for t in asked.request.tensors)
    reply = reference.native(replace(asked.request, tensors=wide))
    results = (*known.outputs, *known.gradients)
    lost = [
        None if y is None or e is None or y.values.shape != e.values.shape else _lost(y, e)
        for y, e in zip((*reply.outputs, *reply.gradients), results, strict=False)
    ]
    floats = (m for m, e in zip(lost, results, strict=False) if e is not None and e.values.dtype.kind == "f")
    if not any(mask is not None and mask.any() for mask in floats):
        return False
    return _excuses(asked, known, judgements, lambda i: lost[i] if i < len(lost) else None)


def _lost(y: Answered, e: Expected) -> Array:
    if e.values.dtype.kind != "f":  # what is decided by numbers that overflowed
        return np.asarray(y.values != e.values)
    only = np.isnan(y.values) & ~np.isnan(e.values)
    most = DTYPES["f32"].max / 2
    return ~np.isfinite(y.values) & ((np.abs(e.values) < most) | (y.dtype in PARTS) | only)


def undefined(asked: Facts, known: Truth, judgements: Judgements) -> bool:
    """Whether all that is wrong is where the truth is NaN, or chosen by NaN, or came as none.

    Of inputs and cotangents none is NaN then.
    """
    some = (*(t.values for t in asked.request.tensors), *(g for g in asked.request.cotangents if g is not None))
    if any(np.isnan(x).any() for x in some if x.dtype.kind == "f"):
        return False
    results = (*known.outputs, *known.gradients)
    made = [None if e is None else _none(e, known) for e in results]
    if not any(mask is not None and mask.any() for mask in made):
        return False
    return _excuses(asked, known, judgements, lambda i: made[i])


def unanswered(known: Truth, judgements: Judgements, own: Callable[[], Judgements]) -> str:
    """Why the reference itself has no answer where the candidate raised; empty where it has one, or nothing raised.

    `own`: how the reference's answer in its own dtype is judged. It has none in a mode whose truth is NaN, or in which
    not even its own passes; and none in the gradient of values that it has not.
    """
    raised = [mode for mode, j in judgements.items() if j.verdict is Verdict.ERROR]
    if not raised:
        return ""
    results = (*known.outputs, *known.gradients)
    if any(e.values.dtype.kind == "f" and np.isnan(e.values).any() for e in results if e is not None):
        return "NaN in float64 itself"
    judged = own()
    silent = [j for m, j in judged.items() if m in (Mode.FORWARD, *raised) and j.verdict is not Verdict.PASS]
    return f"it has no answer there: {silent[0].message or silent[0].verdict}" if silent else ""


def _none(e: Expected, known: Truth) -> Array:
    """Where the truth is NaN, or a place that was chosen among numbers of which one is."""
    return np.isnan(e.values) if e.values.dtype.kind == "f" else np.full(e.values.shape, known.unordered)


def _excuses(asked: Facts, known: Truth, judgements: Judgements, of: Callable[[int], Array | None]) -> bool:
    """Whether every wrong element is one of those that `of` gives by result, or is no finite number."""
    for mode, judgement in judgements.items():
        if judgement.verdict not in WRONG:
            continue
        places = places_of(known, asked.request.needs, mode)
        if mode is Mode.FORWARD and all((mask := of(i)) is None or not mask.any() for i in places):
            return False  # what a gradient lacks excuses no value
        for i, judged in zip(places, judgement.tensors, strict=False):
            mask, got = of(i), judged.got
            nowhere = np.zeros(got.shape, dtype=bool)
            free = nowhere if mask is None or mask.shape != got.shape else mask
            lost = ~np.isfinite(got) if got.dtype.kind == "f" else nowhere
            if (~judged.comparison.passed & ~free & ~lost).any():
                return False
    return True
