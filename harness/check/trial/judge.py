"""Outputs and gradients of a reply compared with the truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from opproof.core.arrays import Array
from opproof.core.verdicts import WRONG, Mode, Verdict
from opproof.harness.check.comparison import compare
from opproof.harness.check.doubts.trivial import no_evidence
from opproof.harness.check.sides.exchange import Reply
from opproof.harness.check.sides.facts import Facts
from opproof.harness.check.sides.reference import kinds
from opproof.harness.check.tensors import kind_of
from opproof.harness.check.trial.gradients import misgiven
from opproof.harness.check.trial.rows import clear_of_rows
from opproof.harness.judge.array_statistics import figures
from opproof.harness.judge.gradient import for_equal
from opproof.harness.judge.judgement import Judged, Judgement, measured, of_the_whole
from opproof.harness.reference.expected import Expected
from opproof.harness.reference.torch.evaluate import Truth


def judge(asked: Facts, known: Truth, reply: Reply) -> dict[Mode, Judgement]:
    """Both modes, or the forward alone where no gradients were asked for."""
    judgements = {Mode.FORWARD: judge_outputs(asked, known, reply)}
    if asked.request.cotangents:
        judgements[Mode.GRADIENT] = judge_gradients(asked, known, reply)
    return judgements


def fails(judgements: Mapping[Mode, Judgement]) -> bool:
    """Whether a value or a gradient is wrong."""
    return any(j.verdict in WRONG for j in judgements.values())


def judge_outputs(asked: Facts, known: Truth, reply: Reply) -> Judgement:
    """The outputs, each within its bound and all together."""
    left = known.open[: len(known.outputs)] or [None] * len(known.outputs)
    slices = _equal_slices(asked)
    found = [
        _judged(name, y.values, e, kind_of(w.dtype), o, slices)
        for name, y, e, w, o in zip(asked.names, reply.outputs, known.outputs, asked.outputs, left, strict=True)
    ]
    return _judgement(found, [kind_of(w.dtype) for w in asked.outputs], asked, Verdict.WRONG_VALUE)


def judge_gradients(asked: Facts, known: Truth, reply: Reply) -> Judgement:
    """The gradients of the tensors that need one; what came in their place else."""
    if reply.failed:
        return Judgement(Verdict.ERROR, reply.failed)
    if reply.declined:
        return Judgement(Verdict.UNSUPPORTED, reply.declined)
    if objection := misgiven(asked, reply):
        return objection
    found, of = [], []
    request, slices = asked.request, _equal_slices(asked)
    given = zip(request.tensors, kinds(request.tensors), strict=True)
    for (t, kind), e, d, need in zip(given, known.gradients, reply.gradients, request.needs, strict=True):
        if not need or e is None:
            continue
        if d is None and e.values.any():
            return Judgement(Verdict.WRONG_GRADIENT, _absent(t.name))
        if d is not None and d.values.shape != e.values.shape:
            text = f"the gradient of {t.name} has shape {d.values.shape}: expected {e.values.shape}"
            return Judgement(Verdict.WRONG_SHAPE, text)
        got = np.zeros(e.values.shape) if d is None else d.values
        # Of equal elements at_kinks decides.
        found.append(_judged(t.name, got, e, kind, None, slices))
        of.append(kind)
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
    if whole.rms is not None and whole.rms > whole.most and not clear_of_rows(comparison.signed, whole.most):
        whole = replace(whole, most=whole.rms)
    return Judged(name, got, expected, comparison, whole)


def _judgement(found: Sequence[Judged], of: Sequence[str], asked: Facts, wrong: Verdict) -> Judgement:
    failing = [j for j in found if not j.comparison.right]
    judgement = measured(found, failing)
    objection = of_the_whole(found, lambda j: j.figures.fault(declarable=False))
    if failing or objection:
        return replace(judgement, verdict=wrong, message=objection, tensors=tuple(found))
    given = [t.values for t in asked.request.tensors] + [g for g in asked.request.cotangents if g is not None]
    if doubt := no_evidence(found, of, given, gradient=wrong is Verdict.WRONG_GRADIENT):
        return replace(judgement, verdict=Verdict.MISTRUSTED, message=doubt)
    return judgement
