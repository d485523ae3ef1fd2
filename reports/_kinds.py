"""What a record amounts to, and which of two is worse: the one definition, for every rendering."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum

from opproof.core.verdicts import Verdict
from opproof.reports._record import Result


class Kind(StrEnum):
    """From worst to best. A record is of exactly one."""

    FAILED = "failed"  # and nobody expected it
    KNOWN = "known"  # a failure that an entry of a ledger explains
    HARNESS_ERROR = "harness_error"  # opproof's own fault
    NO_EVIDENCE = "no_evidence"
    UNSUPPORTED = "unsupported"
    PASSED = "passed"


KINDS = tuple(Kind)

#: What a kind is called, in every rendering.
LABELS = {
    Kind.FAILED: "fail",
    Kind.KNOWN: "known",
    Kind.HARNESS_ERROR: "harness error",
    Kind.NO_EVIDENCE: "no evidence",
    Kind.UNSUPPORTED: "unsupported",
    Kind.PASSED: "pass",
}

#: Kinds in which the backend is wrong.
FAILING = (Kind.FAILED, Kind.KNOWN)

#: The order of columns.
COLUMNS = (Kind.PASSED, *KINDS[:-1])

_KINDS: dict[str, Kind] = {
    Verdict.PASS: Kind.PASSED,
    Verdict.UNSUPPORTED: Kind.UNSUPPORTED,
    Verdict.MISTRUSTED: Kind.NO_EVIDENCE,
    Verdict.INCONCLUSIVE: Kind.NO_EVIDENCE,
    Verdict.HARNESS_ERROR: Kind.HARNESS_ERROR,
}
#: Units allowed in files from before records said how many.
ALLOWED = 16.0
_FAILED, _KNOWN = FAILING  # asked of every record many times, and slow as attributes of an enumeration
_PLACE = {kind: place for place, kind in enumerate(KINDS)}


def kind(result: Result) -> Kind:
    """What `result` amounts to. Every verdict that is not told otherwise is a failure."""
    of_verdict = _KINDS.get(result.verdict, _FAILED)
    return _KNOWN if of_verdict is _FAILED and result.known else of_verdict


def severity(units: float | str | None) -> float:
    """Units as a number that sorts: nan is as bad as inf, and so is an error that could not be measured."""
    number = math.inf if units is None else float(units)
    return math.inf if math.isnan(number) else number


def allowed(result: Result) -> float:
    """Units allowed where the largest error is: 0 where the bits must be met."""
    return ALLOWED if result.limit is None else result.limit


def share(result: Result) -> float:
    """The largest error as a share of what is allowed there: inf where no number says how far, or bits are not met."""
    size, most = severity(result.units), allowed(result)
    if most > 0:
        return size / most
    return math.inf if size > 0 else 0.0


def worst_first(results: Sequence[Result]) -> list[int]:
    """The places of `results` in the order of what they amount to, of one kind the larger share of its limit first."""

    def key(place: int) -> tuple[int, float, float, str, str, str]:
        r = results[place]
        what = kind(r)
        # A failure without a number is worse than any; what else has none is better than any.
        measured = r.units is not None or what in FAILING
        part, size = (share(r), severity(r.units)) if measured else (-1.0, -1.0)
        return (_PLACE[what], -part, -size, r.case, r.mode, r.backend)

    return sorted(range(len(results)), key=key)
