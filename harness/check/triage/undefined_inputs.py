"""Values at which the reference does not say what is right: it overflows in float32 itself, or is NaN of numbers.

Who raises there, as a solver does of a singular matrix, is not wrong either.

Of a wrong answer that excuses the elements where it is so, and those where the candidate has no number either. One that
is wrong in others is wrong.

Whether a reference means something else where its inputs lie otherwise: as_strided, a view that strides forbid.

Variants at which formulas differ of which neither is wrong: nothing is left to reduce, or equal elements decide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.core.errors import OpError
from opproof.core.verdicts import WRONG, Mode, Verdict
from opproof.harness.check.call.exchange import Reply, ReplyTensor, is_near
from opproof.harness.check.call.reference import Reference
from opproof.harness.check.call.reference_reply import ReferenceReply
from opproof.harness.check.tensors import PARTS
from opproof.harness.check.triage.kinks import places_of
from opproof.harness.check.variants.fills import NEGATIVE, SATURATING, TIED, TINY, ZEROED
from opproof.harness.check.variants.variant import GIVEN, Variant
from opproof.harness.judge.bound import bound_of
from opproof.harness.judge.judgement import Judgement
from opproof.harness.reference.question import Expected
from opproof.harness.reference.torch.alternatives import measure_branch_flips, selects
from opproof.harness.reference.torch.evaluate import TorchQuestion, Truth

Judgements = Mapping[Mode, Judgement]


def overflows(reference: Reference, asked: ReferenceReply, known: Truth, judgements: Judgements) -> bool:
    """Whether all that is wrong is where the reference in float32 is not finite though the truth is, or came as none.

    Where its steps overflow on the way to what is infinite it is NaN, as inf - inf is, and that says as little.
    """
    wide = tuple(replace(t, dtype="float32") if t.kind in ("f16", "bf16") else t for t in asked.request.tensors)
    reply = reference.call_native(replace(asked.request, tensors=wide))
    results = (*known.outputs, *known.gradients)
    lost = [
        None if y is None or e is None or y.values.shape != e.values.shape else _find_lost(y, e)
        for y, e in zip((*reply.outputs, *reply.gradients), results, strict=False)
    ]
    floats = (m for m, e in zip(lost, results, strict=False) if e is not None and e.values.dtype.kind == "f")
    if not any(mask is not None and mask.any() for mask in floats):
        return False
    return _excuses(asked, known, judgements, lambda i: lost[i] if i < len(lost) else None)


def _find_lost(y: ReplyTensor, e: Expected) -> Array:
    if e.values.dtype.kind != "f":  # what is decided by numbers that overflowed
        return np.asarray(y.values != e.values)
    only = np.isnan(y.values) & ~np.isnan(e.values)
    most = DTYPES["f32"].max / 2
    return ~np.isfinite(y.values) & ((np.abs(e.values) < most) | (y.dtype in PARTS) | only)


def is_undefined(asked: ReferenceReply, known: Truth, judgements: Judgements) -> bool:
    """Whether all that is wrong is where the truth is NaN, or chosen by NaN, or came as none.

    Of inputs and cotangents none is NaN then.
    """
    some = (*(t.values for t in asked.request.tensors), *(g for g in asked.request.cotangents if g is not None))
    if any(np.isnan(x).any() for x in some if x.dtype.kind == "f"):
        return False
    results = (*known.outputs, *known.gradients)
    made = [None if e is None else _find_undefined(e, known) for e in results]
    if not any(mask is not None and mask.any() for mask in made):
        return False
    return _excuses(asked, known, judgements, lambda i: made[i])


def explain_no_answer(known: Truth, judgements: Judgements, own: Callable[[], Judgements]) -> str:
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


def _find_undefined(e: Expected, known: Truth) -> Array:
    """Where the truth is NaN, or a place that was chosen among numbers of which one is."""
    return np.isnan(e.values) if e.values.dtype.kind == "f" else np.full(e.values.shape, known.unordered)


def _excuses(asked: ReferenceReply, known: Truth, judgements: Judgements, of: Callable[[int], Array | None]) -> bool:
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


def share_memory_alike(asked: ReferenceReply, laid: Reply) -> ReferenceReply:
    """The facts with the memory that outputs of the reference share, or hold twice, in the layout of its inputs."""
    if laid.error or len(laid.outputs) != len(asked.outputs):
        return asked
    pairs = zip(asked.outputs, laid.outputs, strict=True)
    return replace(asked, outputs=tuple(_merge_sharing(y, z) for y, z in pairs))


def _merge_sharing(y: ReplyTensor, z: ReplyTensor) -> ReplyTensor:
    return replace(y, shares=max(y.shares, z.shares), overlaps=y.overlaps or z.overlaps)


def explain_other_meaning(asked: ReferenceReply, laid: Reply, *, raised: bool) -> str:
    """Why a layout says nothing of a candidate, from the reference's own reply in it; empty where it does.

    Where the reference raises, nothing is said of a candidate that `raised` too; one that answers has to be right.
    """
    if laid.error or laid.failed:
        return (laid.error or laid.failed) if raised else ""
    plain = asked.reply
    pairs = zip((*plain.outputs, *plain.gradients), (*laid.outputs, *laid.gradients), strict=False)
    if all(is_near(a, b) for a, b in pairs):
        return ""
    return "it gives other results where its inputs lie so: it depends on their strides"


def explain_unsettled(
    question: TorchQuestion, variant: Variant, known: Truth, judgements: Mapping[Mode, Judgement]
) -> str:
    """Why what is wrong at a variant says nothing of the candidate; empty where it does."""
    if _of_nothing(variant, judgements):
        return "the candidate answers NaN where it is left nothing to reduce"
    if _of_equals(variant, known, judgements):
        return "which of equal elements are taken decides, and the candidate takes others, or more of them"
    wrong = any(j.verdict in WRONG for j in judgements.values())
    if variant.fill == TINY and wrong and _does_rounding_decide(question, known):
        return "numbers are equal there but for their rounding, which decides"
    return ""


def _does_rounding_decide(question: TorchQuestion, known: Truth) -> bool:
    """Whether deciding otherwise, as noise does, leaves a bound: of all but equal values who takes all is right too.

    So it is where a reference chooses by numbers so small that their exponentials are equal, whose others choose by.
    """
    if selects(question):
        return True
    try:
        ends = measure_branch_flips(question)
    except OpError:  # it takes other steps
        return True
    each = zip(ends, (*known.outputs, *known.gradients), question.results, strict=True)
    return any(
        end is not None and e is not None and bool(np.any(end.high - end.low > bound_of(e, DTYPES[kind or "f32"])))
        for end, e, kind in each
    )


def _of_equals(variant: Variant, known: Truth, judgements: Mapping[Mode, Judgement]) -> bool:
    """Whether values are wrong where the reference has others if it takes the last of equals, as a cut of top-p does.

    Who keeps all that are equal is right as well, and divides by another sum. In 16 bits many
    numbers about -100 are equal too.
    """
    chosen = any(o is not None and bool(np.any(o)) for o in known.open[: len(known.outputs)])
    if variant.fill in (TINY, ZEROED):  # where all but a few are equal, gradients go to whichever are taken
        return chosen and any(j.verdict in WRONG for j in judgements.values())
    equal = variant.fill == TIED or variant.fill.endswith(SATURATING) or variant.name == NEGATIVE
    return equal and chosen and judgements[Mode.FORWARD].verdict in WRONG


def _of_nothing(variant: Variant, judgements: Mapping[Mode, Judgement]) -> bool:
    """Whether a size became 0, and all that is wrong is NaN: an answer that says so, as an error would."""
    wrong = [j for j in judgements.values() if j.verdict in WRONG]
    if variant.name == GIVEN or not wrong or not any(0 in t.shape for t in variant.case_data):
        return False
    return all(
        j.tensors and all(np.isnan(t.got[~t.comparison.passed]).all() for t in j.tensors if t.got.dtype.kind == "f")
        for j in wrong
    )
