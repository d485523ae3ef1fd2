"""What was tried as records: the same that runs leave, so that every report reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from opproof.core.verdicts import FAILED, Mode
from opproof.harness.check.posed import answer_of, case_of, posed_of
from opproof.harness.check.sides.reference import Reference
from opproof.harness.check.trial.outcome import Tried
from opproof.harness.clock import ENDLESS, Allowed
from opproof.harness.diagnose.diagnosis import explain, slight
from opproof.harness.diagnose.wrong import Wrong, wrongs
from opproof.harness.judge.judgement import Judgement
from opproof.harness.reference.question import Posed
from opproof.harness.repro.evidence import evidence
from opproof.harness.run.record import numbers, told
from opproof.reports import Result


def records(
    tried: Tried,
    reference: Reference,
    name: str,
    candidate: str,
    *,
    in_process: bool,
    beside: Mapping[Mode, Sequence[Wrong]] | None,
    until: Allowed = ENDLESS,
) -> list[Result]:
    """A record a mode that was judged; failures with a diagnosis where there is `beside`.

    `beside`: by mode what came in all variants. `until`: when a diagnosis is to end.
    """
    made = []
    for mode, judgement in tried.judgements.items():
        case = case_of(tried, name)
        asked = judgement.verdict in FAILED and beside is not None and not until.over
        posed = posed_of(tried, case, reference, mode, until) if asked else None
        result = Result(
            case=str(case),
            op=name,
            dtype=case.dtype,
            backend=candidate,
            mode=mode,
            message=judgement.message,
            seconds=round(tried.reply.seconds, 6),
            in_process=in_process,
            **numbers(judgement),
        )
        others = [w for m in dict.fromkeys((mode, Mode.FORWARD)) for w in (beside or {}).get(m, ())]
        made.append(result if posed is None else _explained(result, posed, judgement, tried, others))
    return made


def _nothing(*_: Any) -> tuple[str, str]:
    """Of a declaration doubts/undeclared.py says what it would make right."""
    return "", ""


def _explained(result: Result, posed: Posed, judgement: Judgement, tried: Tried, others: Sequence[Wrong]) -> Result:
    """The record with a diagnosis and evidence, where they can be had: the verdict stands without them."""
    explained: dict[str, Any] = {}
    answer = answer_of(tried, posed.mode)
    for made in (
        lambda: told(
            *explain(posed, answer, judgement, others=others, declarable=_nothing),
            slight(wrongs(posed, answer, judgement)),
        ),
        lambda: {"evidence": evidence(posed, judgement)},
    ):
        try:
            explained |= made()
        except Exception:  # noqa: S112 - patterns are of our operators, these are anybody's
            continue
    return replace(result, **explained)
