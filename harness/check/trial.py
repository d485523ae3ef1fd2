"""One variant tried: the candidate asked three times, then the truth found, then one compared with the other."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from opproof.harness.check.beyond import overflows, undefined
from opproof.harness.check.call import Answered, Reply, alike
from opproof.harness.check.facts import Facts, facts
from opproof.harness.check.finer import as_rounded
from opproof.harness.check.float8 import compare
from opproof.harness.check.gradients import misgiven
from opproof.harness.check.in_layout import means_otherwise, shared_alike
from opproof.harness.check.kinks import at_kinks
from opproof.harness.check.partly import judged as wrong_part
from opproof.harness.check.partly import parts
from opproof.harness.check.sensitive import undecided
from opproof.harness.check.sides import Ask, Reference, kinds
from opproof.harness.check.taken import unknown
from opproof.harness.check.tensors import CONTIGUOUS, kind_of
from opproof.harness.check.trivial import no_evidence
from opproof.harness.check.undeclared import undeclared
from opproof.harness.check.unsaved import unsaved
from opproof.harness.check.unsettled import unsettled
from opproof.harness.check.variants import GIVEN, Variant
from opproof.harness.judge.figures import figures
from opproof.harness.judge.gradient import for_equal
from opproof.harness.judge.judgement import Judged, Judgement, measured
from opproof.harness.truth.reference import Expected
from opproof.harness.truth.torch.evaluate import Question, Truth, truth
from opproof.harness.truth.torch.ways import widened
from opproof.vocabulary.arrays import Array
from opproof.vocabulary.dtypes import DTYPES, round_to
from opproof.vocabulary.errors import BadInput, UsageError
from opproof.vocabulary.modes import Mode
from opproof.vocabulary.verdicts import WRONG, Verdict

#: Seconds of CPU that a variant may have taken in the judge if the same is to be found out for another precision too.
_BRIEF = 10.0


@dataclass(frozen=True)
class Tried:
    """What became of a variant, by mode; `declined`: why the reference, or the candidate, does not take it."""

    variant: Variant
    facts: Facts | None
    truth: Truth | None
    reply: Reply
    judgements: dict[Mode, Judgement]
    declined: str = ""
    by_candidate: bool = False  # who declines; else the reference


@dataclass(frozen=True)
class Manner:
    """How to judge."""

    seed: int = 0
    gradients: bool = True
    compute: str | None = None
    reuses_outputs: bool = False  # declared: the next call may overwrite what this one returns
    bits: str | None = None  # declared: the same call may give others


def tried(reference: Reference, ask: Ask, variant: Variant, manner: Manner) -> Tried:
    """Try one variant. Raises OpError where the reference uses what has no rule under noise."""
    start = time.process_time()
    asked = facts(reference, variant.asked, manner.seed, manner.gradients)
    other = facts(reference, variant.other, manner.seed, manner.gradients)
    if isinstance(asked, str) or isinstance(other, str):
        why = asked if isinstance(asked, str) else str(other)
        return Tried(variant, None, None, Reply(), {}, f"the reference: {why}")
    replies = [ask(f.request) for f in (other, asked, other)]
    objection = _fault(replies, asked, manner)
    laid = reference.native(asked.request) if objection is not None and variant.layout != CONTIGUOUS else Reply()
    if objection is not None and laid.outputs:
        asked = shared_alike(asked, laid)
        objection = _fault(replies, asked, manner)
    if objection is not None:
        if laid.error and objection.verdict is Verdict.ERROR:
            return Tried(variant, None, None, Reply(), {}, f"the reference: {laid.error}")
        return Tried(variant, asked, None, replies[1], {Mode.FORWARD: objection})
    some = parts(ask, asked, replies[1], alone=variant.name == GIVEN)
    question = _question(reference, asked, manner)
    try:
        known = truth(question)
    except (RuntimeError, ValueError, IndexError) as error:  # sizes that it takes in its own dtype alone
        why = f"the reference in float64: {type(error).__name__}: {error}"
        if variant.name == GIVEN:
            raise error if isinstance(error, BadInput) else UsageError(why) from error
        return Tried(variant, None, None, Reply(), {}, why)
    question, known = as_rounded(question, known, lambda k: _judgements(asked, k, asked.reply))
    known, judgements = _decided(question, asked, known, replies[1])
    if not _fails(judgements):
        judgements = unsaved(question, judgements, lambda narrow: _gradient(asked, narrow, replies[1]))
    if variant.name != GIVEN and _fails(judgements) and overflows(reference, asked, known):
        return Tried(variant, None, None, Reply(), {}, "the reference: it overflows in float32 itself")
    if why := unsettled(variant, known, judgements):
        return Tried(variant, None, None, Reply(), {}, why, by_candidate=True)
    if variant.name != GIVEN and _fails(judgements) and undefined(asked, known):
        return Tried(variant, None, None, Reply(), {}, "the reference: NaN in float64 itself")
    if why := _in_layout(reference, variant, asked, judgements):
        return Tried(variant, None, None, Reply(), {}, f"the reference: {why}")
    judgements = _of_strides(ask, asked, known, judgements)
    if time.process_time() - start < _BRIEF:
        judgements = undeclared(question, judgements, lambda k: _judgements(asked, k, replies[1]))
    part = None if _fails(judgements) else wrong_part(
        some, lambda p: _forward(p.asked, known, p.reply), lambda p: _gradient(p.asked, known, p.reply)
    )  # fmt: skip
    if part is not None:
        return Tried(variant, asked, known, part[0].reply, {**judgements, part[0].mode: part[1]})
    if manner.bits is not None and not _fails(judgements):
        judgements = _asked_again(ask, question, asked, known, judgements, replies, manner)
    stale = _stale(replies)
    return Tried(
        variant,
        asked,
        known,
        replies[1],
        {m: replace(j, stale=stale) if j.tensors else j for m, j in judgements.items()},
    )


def _decided(question: Question, asked: Facts, known: Truth, reply: Reply) -> tuple[Truth, dict[Mode, Judgement]]:
    """What becomes of a reply, with the truth that it was judged by: wider where that alone may make it right."""
    judgements = _judgements(asked, known, reply)
    if not _fails(judgements):
        return known, judgements
    known = widened(question, known)
    judgements = at_kinks(question, _judgements(asked, known, reply))
    return known, unknown(question, known, undecided(question, known, judgements))


def _asked_again(
    ask: Ask, question: Question, asked: Facts, known: Truth, judgements: dict[Mode, Judgement],
    replies: Sequence[Reply], manner: Manner,
) -> dict[Mode, Judgement]:  # fmt: skip
    """The judgements where another reply to the same request is right too, its bits may vary; else what is wrong."""
    again = ask(asked.request)
    if (fault := _fault((replies[0], again, replies[2]), asked, manner)) is not None:
        return {Mode.FORWARD: fault}
    _, later = _decided(question, asked, known, again)
    said = "its bits may vary, as declared, but the same call gave a wrong answer another time"
    wrong = {
        m: Judgement(Verdict.NOT_REPEATABLE, "; ".join(filter(None, (said, j.message))))
        for m, j in later.items()
        if j.verdict in WRONG
    }
    return {**judgements, **wrong}


def _question(reference: Reference, asked: Facts, manner: Manner) -> Question:
    request = asked.request
    return Question(
        reference.outputs(request),
        tuple(t.values for t in request.tensors),
        request.needs or (False,) * len(request.tensors),
        tuple(kind_of(y.dtype) for y in asked.outputs),
        kinds(request.tensors),
        request.cotangents,
        manner.compute,
        request.seed,
        asked.reply.draws,
    )


def _fault(replies: Sequence[Reply], asked: Facts, manner: Manner) -> Judgement | None:
    """What is wrong before any value is looked at."""
    first, judged, last = replies
    for reply in replies:
        if reply.error:
            return Judgement(reply.cause, reply.error)
    names = [t.name for t in asked.request.tensors]
    if changed := [i for i in judged.changed if i not in asked.request.after]:
        return Judgement(
            Verdict.INPUT_CHANGED,
            f"{names[changed[0]]} was modified, which the reference leaves as it is; where callers are told so, "
            "give the kernel a copy: lambda x: kernel(x.clone())",
        )
    if (again := max(judged.overwritten, last.overwritten)) >= 0 and not manner.reuses_outputs:
        text = (
            f"y{again} of the call before was overwritten: its memory is used again while somebody holds it; where "
            "callers are told so, declare it with reuses_outputs=True (--reuses-outputs)"
        )
        return Judgement(Verdict.NOT_REPEATABLE, text)
    for what, one, two in (
        ("outputs", first.outputs, last.outputs),
        ("gradients", first.gradients, last.gradients),
    ):
        if manner.bits is None and not alike(one, two):
            text = (
                f"the same call gave other {what} the second time; where the order of its sums is left open, "
                'declare it with bits="vary" (--bits vary)'
            )
            return Judgement(Verdict.NOT_REPEATABLE, text)
    return _misshapen(judged.outputs, asked.outputs) or _aliased(judged.outputs, asked.outputs, names)


def _misshapen(got: Sequence[Answered], wanted: Sequence[Answered]) -> Judgement | None:
    if len(got) != len(wanted):
        return Judgement(Verdict.WRONG_SHAPE, f"{len(got)} outputs came, the reference has {len(wanted)}")
    for i, (y, w) in enumerate(zip(got, wanted, strict=True)):
        if y.values.shape != w.values.shape:
            return Judgement(Verdict.WRONG_SHAPE, f"y{i} has shape {y.values.shape}: expected {w.values.shape}")
        if y.dtype != w.dtype:
            return Judgement(Verdict.WRONG_DTYPE, f"y{i} has dtype {y.dtype}: expected {w.dtype}")
        if not _representable(y):
            return Judgement(Verdict.WRONG_DTYPE, f"y{i} holds numbers that are none of {y.dtype}")
    return None


def _representable(y: Answered) -> bool:
    """Whether the dtype that a process names can hold what it sent."""
    kind = kind_of(y.dtype)
    return kind not in ("f16", "bf16", "f32") or np.array_equal(
        round_to(y.values, DTYPES[kind]), y.values, equal_nan=True
    )


def _aliased(got: Sequence[Answered], wanted: Sequence[Answered], names: Sequence[str]) -> Judgement | None:
    for i, (y, w) in enumerate(zip(got, wanted, strict=True)):
        if y.shares >= 0 and w.shares < 0:
            text = f"y{i} is part of the memory of {names[y.shares]}, which the reference's is not"
            return Judgement(Verdict.INPUT_CHANGED, text)
        if y.overlaps and not w.overlaps:
            text = f"y{i} has several elements in one place of memory (a stride of 0), which the reference's has not"
            return Judgement(Verdict.WRONG_SHAPE, text)
    return None


def _judgements(asked: Facts, known: Truth, reply: Reply) -> dict[Mode, Judgement]:
    judgements = {Mode.FORWARD: _forward(asked, known, reply)}
    if asked.request.cotangents:
        judgements[Mode.GRADIENT] = _gradient(asked, known, reply)
    return judgements


def _of_strides(ask: Ask, asked: Facts, known: Truth, judgements: dict[Mode, Judgement]) -> dict[Mode, Judgement]:
    """The judgements; a gradient that is wrong says so where it is right for a contiguous cotangent."""
    wrong = judgements.get(Mode.GRADIENT)
    request = asked.request
    if wrong is None or wrong.verdict not in (Verdict.WRONG_GRADIENT, Verdict.ERROR) or request.layout == CONTIGUOUS:
        return judgements
    reply = ask(replace(request, layout=CONTIGUOUS))
    if reply.error or _gradient(asked, known, reply).verdict in (*WRONG, Verdict.ERROR):
        return judgements
    text = "the strides of the gradient that comes in are not heeded: for a contiguous one it is right"
    return {**judgements, Mode.GRADIENT: replace(wrong, message=f"{wrong.message}: {text}" if wrong.message else text)}


def _in_layout(reference: Reference, variant: Variant, asked: Facts, judgements: dict[Mode, Judgement]) -> str:
    """Why what is wrong in a layout says nothing of the candidate; empty where it does, or nothing is."""
    raised = any(j.verdict is Verdict.ERROR for j in judgements.values())
    if variant.layout == CONTIGUOUS or not (raised or _fails(judgements)):
        return ""
    return means_otherwise(asked, reference.native(asked.request), raised=raised)


def _fails(judgements: dict[Mode, Judgement]) -> bool:
    return any(j.verdict in WRONG for j in judgements.values())


def _forward(asked: Facts, known: Truth, reply: Reply) -> Judgement:
    left = known.open[: len(known.outputs)] or [None] * len(known.outputs)
    slices = _equal_slices(asked)
    found = [
        _judged(name, y.values, e, kind_of(w.dtype), o, slices)
        for name, y, e, w, o in zip(asked.names, reply.outputs, known.outputs, asked.outputs, left, strict=True)
    ]
    return _judgement(found, [kind_of(w.dtype) for w in asked.outputs], asked, Verdict.WRONG_VALUE)


def _gradient(asked: Facts, known: Truth, reply: Reply) -> Judgement:
    if reply.failed:
        return Judgement(Verdict.ERROR, reply.failed)
    if reply.declined:
        return Judgement(Verdict.UNSUPPORTED, reply.declined)
    if objection := misgiven(asked, reply):
        return objection
    found, of = [], []
    request, slices = asked.request, _equal_slices(asked)
    for t, e, d, need in zip(request.tensors, known.gradients, reply.gradients, request.needs, strict=True):
        if not need or e is None:
            continue
        if d is None and e.values.any():
            return Judgement(Verdict.WRONG_GRADIENT, _absent(t.name))
        if d is not None and d.values.shape != e.values.shape:
            text = f"the gradient of {t.name} has shape {d.values.shape}: expected {e.values.shape}"
            return Judgement(Verdict.WRONG_SHAPE, text)
        got = np.zeros(e.values.shape) if d is None else d.values
        # Of equal elements at_kinks decides.
        found.append(_judged(t.name, got, e, t.kind, None, slices))
        of.append(t.kind)
    return _judgement(found, of, asked, Verdict.WRONG_GRADIENT)


def _absent(name: str) -> str:
    return (
        f"{name} has no gradient: None came, and the reference's is not 0; where {name} is meant as a constant, "
        f"write {name}.detach() in the reference"
    )


def _equal_slices(asked: Facts) -> int:
    """How many slices of an input are one, so that errors repeat; 1 where all are of their own."""
    return max((t.shape[0] for t in asked.request.tensors if t.layout == "broadcast" and t.shape), default=1)


def _judged(name: str, got: Array, expected: Expected, kind: str, left: Array | None, slices: int) -> Judged:
    comparison = for_equal(slices, expected, lambda e: None if e is None else compare(got, e, kind or "f32"))
    assert comparison is not None
    if left is not None:
        comparison = comparison.excusing(left & ~comparison.passed)
    whole = figures(got, expected, comparison, kind or "f32", repeated=slices > 1)
    return Judged(name, got, expected, comparison, whole)


def _judgement(found: Sequence[Judged], of: Sequence[str], asked: Facts, wrong: Verdict) -> Judgement:
    failing = [j for j in found if not j.comparison.right]
    judgement = measured(found, failing)
    objection = next(filter(None, (j.figures.fault(declarable=False) for j in found if j not in failing)), "")
    if failing or objection:
        return replace(judgement, verdict=wrong, message=objection, tensors=tuple(found))
    given = [t.values for t in asked.request.tensors] + [g for g in asked.request.cotangents if g is not None]
    if doubt := no_evidence(found, of, given, gradient=wrong is Verdict.WRONG_GRADIENT):
        return replace(judgement, verdict=Verdict.MISTRUSTED, message=doubt)
    return judgement


def _stale(replies: Sequence[Reply]) -> bool:
    """Whether the judged call answered exactly what the call before it did."""
    return bool(replies[1].outputs) and alike(replies[0].outputs, replies[1].outputs)
