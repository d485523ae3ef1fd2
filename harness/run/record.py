"""From an attempt to the record that is kept: verdict, numbers, diagnosis, evidence, the command that repeats it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opproof.cases import Case
from opproof.core.verdicts import FAILED, WRONG, Mode, Verdict
from opproof.harness.judge.judgement import Judgement, Rules, number
from opproof.harness.reference.question import make_question
from opproof.harness.reference.valid_case import op_of
from opproof.harness.run.attempt import Attempt
from opproof.harness.run.cache.entry import CachedDiagnosis, explain_or_recall
from opproof.harness.run.task import Task, repro_command_of
from opproof.reports import Result


def record(task: Task, attempt: Attempt, *, in_process: bool = False) -> Result:
    """The record of a task after its last look."""
    notes = [attempt.judgement.message]
    said: dict[str, Any] = {}
    try:
        said = _diagnose(attempt)
        if attempt.judgement.verdict in FAILED and attempt.posed is not None:
            from opproof.harness.repro.evidence import collect_evidence

            said["evidence"] = collect_evidence(attempt.posed, attempt.judgement)
    except Exception as error:  # the verdict stands without them
        notes.append(f"opproof could not say more: {type(error).__name__}: {error}")
    return make_record(task, attempt, message="; ".join(filter(None, notes)), in_process=in_process, **said)


def make_record(task: Task, attempt: Attempt, **said: Any) -> Result:
    """The record of an attempt, without a diagnosis and evidence unless they are `said`."""
    case = Case.parse(task.case)
    return Result(
        case=task.case,
        op=case.op,
        dtype=case.dtype,
        backend=task.backend,
        mode=Mode(task.mode),
        declared=attempt.declared,
        impl=attempt.impl,
        seconds=round(attempt.seconds, 6),
        judging=round(attempt.judging, 6),
        repro=repro_command_of(task),
        causes=causes_of(task, attempt),
        **fields_of_judgement(attempt.judgement),
        **{"message": attempt.judgement.message, **said},
    )


def causes_of(task: Task, attempt: Attempt) -> tuple[str, ...]:
    """The causes of known failures that explain what became of a task; each is executed once an attempt."""
    if attempt.judgement.verdict not in FAILED or not any(k.operators for k in task.known):
        return ()
    key = id(attempt.judgement)
    if key not in attempt.causes:
        from opproof.harness.judge.causes import find_causes

        case, mode = Case.parse(task.case), Mode(task.mode)
        posed = attempt.posed or make_question(case, op_of(case.op, task.ops), mode).case_data
        attempt.causes[key] = find_causes(task.known, posed, attempt.judgement, attempt.rules or Rules())
    return attempt.causes[key]


def fields_of_judgement(judgement: Judgement) -> dict[str, Any]:
    """The verdict and its figures, as the fields of a record."""
    figures = judgement.figures
    return {
        "verdict": judgement.verdict,
        "units": None if judgement.units is None else number(round(judgement.units, 4)),
        "limit": _round_units(judgement.limit),
        "ulp": judgement.ulp,
        "standard": judgement.standard,
        "rms": _round_units(figures.rms),
        "bias": _round_units(figures.bias),
        "rounding": figures.rounding,
        "nonfinite": judgement.nonfinite,
        "finite_units": number(round(judgement.finite_units, 4)),
        "share": _round_units(judgement.share),
        "zeros": judgement.zeros,
        "left_out": judgement.left_out,
        "worst": judgement.worst,
    }


def _round_units(units: float | None) -> float | None:
    return None if units is None else round(units, 4)


def fields_of_diagnosis(label: str, said: str, others: Sequence[tuple[str, str]] = ()) -> dict[str, Any]:
    """A diagnosis, and what fits beside it, each with its label, as the fields of a record."""
    also = [(of, text) for of, text in others if text != said]
    return {"diagnosis": said, "also": tuple(s for _, s in also), "patterns": (label, *(p for p, _ in also))}


def make_early_record(task: Task, verdict: Verdict, message: str) -> Result:
    """The record of a task that did not come to an attempt."""
    return record(task, Attempt(Judgement(verdict, message)))


def _diagnose(attempt: Attempt) -> dict[str, Any]:
    """What the error looks like, and what fits beside it, as the fields of a record."""
    judgement, posed, answer = attempt.judgement, attempt.posed, attempt.answer
    if judgement.verdict not in WRONG or not judgement.tensors or posed is None or answer is None:
        return {}

    def explain() -> CachedDiagnosis:
        from opproof.harness.diagnose.diagnosis import explain, find_other_patterns

        label, said = explain(posed, answer, judgement, attempt.rules)
        return CachedDiagnosis(label, said, find_other_patterns(posed, answer, judgement, said))

    known = explain_or_recall(posed, answer, attempt.rules, explain)
    return fields_of_diagnosis(known.label, known.said, known.also)
