"""Variants at which what is wrong says nothing of a candidate: the reference does not say what is right there itself.

It overflows in float32, is NaN of numbers, depends on strides, or takes one of equals where others may be taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.core.errors import OpError
from opproof.core.verdicts import WRONG, Mode, Verdict
from opproof.harness.check.call.exchange import Reply, ReplyTensor, is_near
from opproof.harness.check.call.reference_reply import ReferenceReply
from opproof.harness.check.judge.compare import judge
from opproof.harness.check.judge.judged_variant import JudgedVariant
from opproof.harness.check.judge.outcome import VariantResult, by_candidate, by_reference
from opproof.harness.check.tensors import CONTIGUOUS, PARTS
from opproof.harness.check.triage.kinks import places_of
from opproof.harness.check.variants.fills import NEGATIVE, SATURATING, TIED, TINY, ZEROED
from opproof.harness.judge.bound import bound_of
from opproof.harness.judge.judgement import Judgement
from opproof.harness.reference.question import Expected
from opproof.harness.reference.torch.alternatives import measure_branch_flips, selects
from opproof.harness.reference.torch.evaluate import Truth


def decline_untelling(one: JudgedVariant) -> JudgedVariant | VariantResult:
    """Decline a variant at which what is wrong says nothing of the candidate."""
    if not one.is_given and (why := _explain_no_answer(one)):
        return by_reference(one.variant, why)
    if not one.is_given and one.fails and _overflows(one):
        return by_reference(one.variant, "it overflows in float32 itself")
    if why := _explain_unsettled(one):
        return by_candidate(one.variant, why)
    if not one.is_given and one.fails and _is_undefined(one):
        return by_reference(one.variant, "NaN in float64 itself")
    why = _explain_other_meaning(one)
    return by_reference(one.variant, why) if why else one


def _list_wrong(one: JudgedVariant) -> list[Judgement]:
    return [j for j in one.judgements.values() if j.verdict in WRONG]


def _results_of(known: Truth) -> tuple[Expected | None, ...]:
    return (*known.outputs, *known.gradients)


def _explain_no_answer(one: JudgedVariant) -> str:
    """Why the reference itself has no answer where the candidate raised; empty where it has one, or nothing raised.

    It has none in a mode whose truth is NaN, or in which not even its own passes, as a solver's of a singular matrix;
    and none in the gradient of values that it has not.
    """
    raised = [mode for mode, j in one.judgements.items() if j.verdict is Verdict.ERROR]
    if not raised:
        return ""
    some = (e.values for e in _results_of(one.known) if e is not None and e.values.dtype.kind == "f")
    if any(np.isnan(values).any() for values in some):
        return "NaN in float64 itself"
    judged = judge(one.asked, one.known, one.asked.reply)
    silent = [j for m, j in judged.items() if m in (Mode.FORWARD, *raised) and j.verdict is not Verdict.PASS]
    return f"it has no answer there: {silent[0].message or silent[0].verdict}" if silent else ""


def _overflows(one: JudgedVariant) -> bool:
    """Whether all that is wrong is where the reference in float32 is not finite though the truth is, or came as none.

    Where its steps overflow on the way to what is infinite it is NaN, as inf - inf is, and that says as little.
    """
    request = one.asked.request
    wide = tuple(replace(t, dtype="float32") if t.kind in ("f16", "bf16") else t for t in request.tensors)
    reply = one.reference.call_native(replace(request, tensors=wide))
    results = _results_of(one.known)
    lost = [
        None if y is None or e is None or y.values.shape != e.values.shape else _find_lost(y, e)
        for y, e in zip((*reply.outputs, *reply.gradients), results, strict=False)
    ]
    floats = (m for m, e in zip(lost, results, strict=False) if e is not None and e.values.dtype.kind == "f")
    if not any(mask is not None and mask.any() for mask in floats):
        return False
    return _excuses(one, lambda i: lost[i] if i < len(lost) else None)


def _find_lost(y: ReplyTensor, e: Expected) -> Array:
    if e.values.dtype.kind != "f":  # what is decided by numbers that overflowed
        return np.asarray(y.values != e.values)
    only = np.isnan(y.values) & ~np.isnan(e.values)
    most = DTYPES["f32"].max / 2
    return ~np.isfinite(y.values) & ((np.abs(e.values) < most) | (y.dtype in PARTS) | only)


def _is_undefined(one: JudgedVariant) -> bool:
    """Whether all that is wrong is where the truth is NaN, or chosen by NaN, or came as none.

    Of inputs and cotangents none is NaN then.
    """
    request = one.asked.request
    some = (*(t.values for t in request.tensors), *(g for g in request.cotangents if g is not None))
    if any(np.isnan(x).any() for x in some if x.dtype.kind == "f"):
        return False
    made = [None if e is None else _find_undefined(e, one.known) for e in _results_of(one.known)]
    if not any(mask is not None and mask.any() for mask in made):
        return False
    return _excuses(one, lambda i: made[i])


def _find_undefined(e: Expected, known: Truth) -> Array:
    """Where the truth is NaN, or a place that was chosen among numbers of which one is."""
    return np.isnan(e.values) if e.values.dtype.kind == "f" else np.full(e.values.shape, known.unordered)


def _excuses(one: JudgedVariant, of: Callable[[int], Array | None]) -> bool:
    """Whether every wrong element is one of those that `of` gives by result, or is no finite number."""
    for mode, judgement in one.judgements.items():
        if judgement.verdict not in WRONG:
            continue
        places = places_of(one.known, one.asked.request.needs, mode)
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


def _explain_other_meaning(one: JudgedVariant) -> str:
    """Why a layout says nothing of a candidate, from the reference's own reply in it; empty where it does.

    Where the reference raises, as of a view that strides forbid, nothing is said of a candidate that raised too; one
    that answers has to be right.
    """
    raised = any(j.verdict is Verdict.ERROR for j in one.judgements.values())
    if one.variant.layout == CONTIGUOUS or not (raised or one.fails):
        return ""
    laid, plain = one.reference.call_native(one.asked.request), one.asked.reply
    if laid.error or laid.failed:
        return (laid.error or laid.failed) if raised else ""
    pairs = zip((*plain.outputs, *plain.gradients), (*laid.outputs, *laid.gradients), strict=False)
    if all(is_near(a, b) for a, b in pairs):
        return ""
    return "it gives other results where its inputs lie so: it depends on their strides"


def share_memory_alike(asked: ReferenceReply, laid: Reply) -> ReferenceReply:
    """The facts with the memory that outputs of the reference share, or hold twice, in the layout of its inputs."""
    if laid.error or len(laid.outputs) != len(asked.outputs):
        return asked
    outputs = (
        replace(y, shares=max(y.shares, z.shares), overlaps=y.overlaps or z.overlaps)
        for y, z in zip(asked.outputs, laid.outputs, strict=True)
    )
    return replace(asked, outputs=tuple(outputs))


def _explain_unsettled(one: JudgedVariant) -> str:
    """Why formulas of which neither is wrong differ at a variant; empty where they do not."""
    if _is_of_nothing(one):
        return "the candidate answers NaN where it is left nothing to reduce"
    if _is_of_equals(one):
        return "which of equal elements are taken decides, and the candidate takes others, or more of them"
    if one.variant.fill == TINY and one.fails and _does_rounding_decide(one):
        return "numbers are equal there but for their rounding, which decides"
    return ""


def _does_rounding_decide(one: JudgedVariant) -> bool:
    """Whether deciding otherwise, as noise does, leaves a bound: of all but equal values who takes all is right too.

    So it is where a reference chooses by numbers so small that their exponentials are equal, whose others choose by.
    """
    if selects(one.question):
        return True
    try:
        ends = measure_branch_flips(one.question)
    except OpError:  # it takes other steps
        return True
    each = zip(ends, _results_of(one.known), one.question.results, strict=True)
    return any(
        end is not None and e is not None and bool(np.any(end.high - end.low > bound_of(e, DTYPES[kind or "f32"])))
        for end, e, kind in each
    )


def _is_of_equals(one: JudgedVariant) -> bool:
    """Whether values are wrong where the reference has others if it takes the last of equals, as a cut of top-p does.

    Who keeps all that are equal is right as well, and divides by another sum. In 16 bits many numbers about -100 are
    equal too.
    """
    variant, known = one.variant, one.known
    chosen = any(o is not None and bool(np.any(o)) for o in known.open[: len(known.outputs)])
    if variant.fill in (TINY, ZEROED):  # where all but a few are equal, gradients go to whichever are taken
        return chosen and one.fails
    equal = variant.fill == TIED or variant.fill.endswith(SATURATING) or variant.name == NEGATIVE
    return equal and chosen and one.judgements[Mode.FORWARD].verdict in WRONG


def _is_of_nothing(one: JudgedVariant) -> bool:
    """Whether a size became 0, and all that is wrong is NaN: an answer that says so, as an error would."""
    wrong = _list_wrong(one)
    if one.is_given or not wrong or not any(0 in t.shape for t in one.variant.case_data):
        return False
    return all(
        j.tensors and all(np.isnan(t.got[~t.comparison.passed]).all() for t in j.tensors if t.got.dtype.kind == "f")
        for j in wrong
    )
