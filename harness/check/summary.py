"""From what was tried to the report: records, what was not judged and why, and PyTorch's own error beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from opproof.core.verdicts import FAILED, MODES, WRONG, Verdict
from opproof.harness import __version__
from opproof.harness.check.judge.outcome import DeclinedBy, VariantResult
from opproof.harness.check.options import CheckOptions
from opproof.harness.check.records import Sides, make_records, tensors_of
from opproof.harness.check.search import SearchResult
from opproof.harness.check.triage.precision import by_rule
from opproof.harness.clock import Allowed
from opproof.harness.judge.array_statistics import CONSTANTS
from opproof.reports import Header, Result
from opproof.reports.advice import withdraw_refuted
from opproof.reports.check import Report, first_of

#: Failures that are diagnosed, and the share of a check's seconds that this may take beside them.
MAX_DIAGNOSED = 3
DIAGNOSIS_TIME_SHARE = 0.5
#: So many times what is allowed is no rounding of 16 bits.
MIN_FAR_RATIO = 1024.0
_MARKS = "which has the values of labels or a mask and keeps them: give it with requires_grad=True where it is neither"


#: A variant, and a record of it.
Recorded: TypeAlias = tuple[VariantResult, Result]


def make_report(rounds: SearchResult, sides: Sides, wish: CheckOptions, alike: Sequence[str]) -> Report:
    """The report on variants that were tried, the first of them as given; `alike`: what all of them hold."""
    found, first = rounds.tried, rounds.tried[0]
    judged = tuple(one.variant.name for one in found if not one.declined)
    recorded = _record_variants(found, sides, wish)
    declared = {**wish.contract.given, "compute": wish.compute}
    not_judged = (
        # Sizes are guesses, and values that few draws have: that the reference has none of them is no news.
        *(f"{one.variant.name}: {one.declined}" for one in found if one.declined and _is_told(one)),
        *_of_no_word(found),
        *_list_unsupported(recorded, judged),
        *_explain_missing_gradients(first, wish),
    )
    return Report(
        sides.candidate,
        sides.name,
        tuple(withdraw_refuted(_add_advice(recorded, found))),
        judged,
        (*dict.fromkeys(not_judged), *describe_left_out(rounds.left, wish.seconds), *alike),
        first.truth.promoted if first.truth is not None else (),
        rounds.times,
        {result.case: one.variant.name for one, result in recorded},
        len(rounds.left),
        rounds.asked,
        tuple(one.variant.name for one in found if one.declined and one.news),
        wish.again,
        rounds.advisories,
        wish.advise,
        tuple(f"{one.variant.name}: {one.declined}" for one in found if one.beyond),
        (*(f"{name}={value!r}" for name, value in declared.items() if value is not None), *rounds.notes),
        Header(opproof=__version__, constants=CONSTANTS),
    )


def _record_variants(found: Sequence[VariantResult], sides: Sides, wish: CheckOptions) -> list[Recorded]:
    """Every record; of the first that failed with a diagnosis, which other variants may refute."""
    end = Allowed(DIAGNOSIS_TIME_SHARE * wish.seconds)
    failed = any(j.verdict in FAILED for one in found for j in one.judgements.values())
    beside = {m: [w for one in found if failed for w in tensors_of(one, sides, m, end)] for m in MODES}
    made = list[Recorded]()
    for one in found:
        if not one.declined:
            told = beside if sum(result.verdict in FAILED for _, result in made) < MAX_DIAGNOSED else None
            made += [(one, result) for result in make_records(one, sides, told, end)]
    return made


def _is_told(one: VariantResult) -> bool:
    if one.beyond:  # in lines of their own
        return False
    return one.news or ((one.by is DeclinedBy.CANDIDATE or not one.variant.group) and not one.variant.rare)


def _of_no_word(found: Sequence[VariantResult]) -> list[str]:
    """Values that few draws have, which were put to the candidate and proved nothing, in one line."""
    silent = (one for one in found if one.declined and one.by is not DeclinedBy.REFERENCE and not _is_told(one))
    names = [one.variant.name for one in silent if not one.beyond]
    return [f"{first_of(names)}: nothing follows from what comes there"] if names else []


def describe_left_out(names: Sequence[str], seconds: float) -> tuple[str, ...]:
    """What is to be said of variants that there was no time for."""
    text = f"{first_of(names)}: the time was over, give more than seconds={seconds:g}"
    return (text,) if names else ()


def add_left_out(report: Report, names: Sequence[str], seconds: float) -> Report:
    """The report with what there was no time for beside it."""
    notes = (*report.not_judged, *describe_left_out(names, seconds))
    return replace(report, not_judged=notes, left=report.left + len(names))


def _list_unsupported(recorded: Sequence[Recorded], judged: tuple[str, ...]) -> list[str]:
    places: dict[str, list[str]] = {}
    for one, result in recorded:
        if result.verdict is Verdict.UNSUPPORTED:
            places.setdefault(f"{result.mode}: {result.message}", []).append(one.variant.name)
    return [text if tuple(some) == judged else f"{', '.join(some)}, {text}" for text, some in places.items()]


def _explain_missing_gradients(first: VariantResult, wish: CheckOptions) -> list[str]:
    """Why no gradient was asked for, of anything or of some."""
    if not wish.gradients or first.facts is None:
        return []
    request = first.facts.request
    marks = [f"the gradient of {t.name}, {_MARKS}" for t in request.tensors if t.marks]
    if request.cotangents:
        return marks
    changed = " and ".join(request.tensors[i].name for i in request.after)
    changed += " are" if len(request.after) > 1 else " is" if changed else ""
    none = "the reference has none of these inputs"
    return [f"gradients: {f'none are asked for, {changed} updated by what has them' if changed else none}", *marks]


def _is_far_off(result: Result) -> bool:
    """Whether it is wrong by so much that no rounding between steps explains it."""
    return result.verdict in WRONG and float(result.units or 0) > MIN_FAR_RATIO * float(result.limit or 0)


def _add_advice(recorded: Sequence[Recorded], found: Sequence[VariantResult]) -> list[Result]:
    """The records; with advice to declare a precision where no variant is wrong by a rule, or by far without it."""
    results = [result for _, result in recorded]
    advised = [(r, one.advice.get(r.mode, "")) for one, r in recorded]
    by_far = any(not advice and _is_far_off(r) for r, advice in advised)
    if by_far or by_rule(results, (j for one in found for j in one.judgements.values())):
        return results
    return [replace(r, message="; ".join(filter(None, (r.message, advice)))) for r, advice in advised]
