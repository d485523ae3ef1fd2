"""What a record amounts to, and which of two is worse: the one definition, for every rendering."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum

from opproof.core.verdicts import Verdict
from opproof.reports._record import Result


class ResultKind(StrEnum):
    """From worst to best. A record is of exactly one."""

    FAILED = "failed"  # and nobody expected it
    KNOWN = "known"  # a failure that an entry of a ledger explains
    HARNESS_ERROR = "harness_error"  # opproof's own fault
    NO_EVIDENCE = "no_evidence"
    UNSUPPORTED = "unsupported"
    PASSED = "passed"


KINDS = tuple(ResultKind)

#: What a kind is called, in every rendering.
LABELS = {
    ResultKind.FAILED: "fail",
    ResultKind.KNOWN: "known",
    ResultKind.HARNESS_ERROR: "harness error",
    ResultKind.NO_EVIDENCE: "no evidence",
    ResultKind.UNSUPPORTED: "unsupported",
    ResultKind.PASSED: "pass",
}

#: Kinds in which the backend is wrong.
FAILING = (ResultKind.FAILED, ResultKind.KNOWN)

#: The order of columns.
COLUMNS = (ResultKind.PASSED, *KINDS[:-1])

_KINDS: dict[str, ResultKind] = {
    Verdict.PASS: ResultKind.PASSED,
    Verdict.UNSUPPORTED: ResultKind.UNSUPPORTED,
    Verdict.VACUOUS: ResultKind.NO_EVIDENCE,
    Verdict.INCONCLUSIVE: ResultKind.NO_EVIDENCE,
    Verdict.HARNESS_ERROR: ResultKind.HARNESS_ERROR,
}
#: Units allowed in files from before records said how many.
DEFAULT_ALLOWED_UNITS = 16.0
_FAILED, _KNOWN = FAILING  # asked of every record many times, and slow as attributes of an enumeration
_PLACE = {kind: place for place, kind in enumerate(KINDS)}


def result_kind_of(result: Result) -> ResultKind:
    """What `result` amounts to. Every verdict that is not told otherwise is a failure."""
    of_verdict = _KINDS.get(result.verdict, _FAILED)
    return _KNOWN if of_verdict is _FAILED and result.known else of_verdict


def name_verdict(result: Result) -> str:
    """Name the verdict, and that a ledger explains it, as lines of text do."""
    return f"{result.verdict}(known)" if result_kind_of(result) is ResultKind.KNOWN else str(result.verdict)


def severity_of(units: float | str | None) -> float:
    """Units as a number that sorts: nan is as bad as inf, and so is an error that could not be measured."""
    number = math.inf if units is None else float(units)
    return math.inf if math.isnan(number) else number


def allowed_units_of(result: Result) -> float:
    """Units allowed where the largest error is: 0 where the bits must be met."""
    return DEFAULT_ALLOWED_UNITS if result.limit is None else result.limit


def share(result: Result) -> float:
    """The largest error as a share of what is allowed there: inf where no number says how far, or bits are not met."""
    size, most = severity_of(result.units), allowed_units_of(result)
    if most > 0:
        return size / most
    return math.inf if size > 0 else 0.0


def sort_worst_first(results: Sequence[Result]) -> list[int]:
    """The places of `results` in the order of what they amount to, of one kind the larger share of its limit first."""

    def key(place: int) -> tuple[int, float, float, str, str, str]:
        r = results[place]
        what = result_kind_of(r)
        # A failure without a number is worse than any; what else has none is better than any.
        measured = r.units is not None or what in FAILING
        part, size = (share(r), severity_of(r.units)) if measured else (-1.0, -1.0)
        return (_PLACE[what], -part, -size, r.case, r.mode, r.backend)

    return sorted(range(len(results)), key=key)
