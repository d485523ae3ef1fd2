"""What every rendering needs: kinds of verdicts, counts, the sentence that says how the run ended."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from opproof.reports._record import Header, Result
from opproof.reports._text import line, number, plural, short_names

#: From worst to best. A record is of exactly one kind.
KINDS = ("failed", "known", "doubtful", "unsupported", "passed")

_KIND = {"PASS": "passed", "UNSUPPORTED": "unsupported", "MISTRUSTED": "doubtful", "INCONCLUSIVE": "doubtful"}


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of some records. `units` is the largest error among those that have one, None where none has."""

    records: int
    kinds: Counter[str]
    verdicts: Counter[str]
    units: float | None


def kind(result: Result) -> str:
    """One of KINDS. A verdict that is not known here counts as a failure."""
    found = _KIND.get(result.verdict, "failed")
    return "known" if found == "failed" and result.known else found


def tally(results: Iterable[Result]) -> Tally:
    """Count records by kind and verdict."""
    kinds: Counter[str] = Counter()
    verdicts: Counter[str] = Counter()
    worst: float | None = None
    for result in results:
        kinds[kind(result)] += 1
        verdicts[result.verdict] += 1
        if result.units is not None:
            here = severity(result.units)
            worst = here if worst is None else max(worst, here)
    return Tally(sum(kinds.values()), kinds, verdicts, worst)


def grouped(results: Iterable[Result], key: Callable[[Result], str]) -> dict[str, list[Result]]:
    """Records by a text, sorted by it."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(key(result), []).append(result)
    return dict(sorted(groups.items()))


def failures(results: Iterable[Result]) -> list[Result]:
    """Unexpected failures, by operator, largest error first."""
    found = [r for r in results if kind(r) == "failed"]
    return sorted(found, key=lambda r: (r.op, -severity(r.units), r.case, r.mode, r.backend))


def severity(units: float | str | None) -> float:
    """Units as a number that sorts: nan is as bad as inf, and so is an error that could not be measured."""
    number = math.inf if units is None else float(units)
    return math.inf if math.isnan(number) else number


def sentence(header: Header, results: Sequence[Result]) -> str:
    """How the run ended, in one sentence; nothing run, or not everything, is never success."""
    if not results:
        return "No case ran, so nothing is known about the backend."
    names = short_names({r.backend for r in results})
    groups = grouped(results, lambda r: r.backend)
    said = "; ".join(_one(line(names[backend]), some, header.constant) for backend, some in groups.items())
    missing = header.cases - len(results)
    return f"{said}; {plural(missing, 'planned record')} did not run." if missing > 0 else f"{said}."


def _one(name: str, results: Sequence[Result], constant: float) -> str:
    count = tally(results)
    failed, passed = count.kinds["failed"], count.kinds["passed"]
    if failed:
        ops = sorted({r.op for r in results if kind(r) == "failed"})
        named = ", ".join(ops[:3]) + (", …" if len(ops) > 3 else "")
        said = (
            f"{name} fails {failed:,} of {plural(count.records, 'record')}, in {plural(len(ops), 'operator')} ({named})"
        )
    elif passed:
        ops = sorted({r.op for r in results if kind(r) == "passed"})
        said = f"{name} passes {passed:,} of {plural(count.records, 'record')} in {plural(len(ops), 'operator')}"
        worst = tally(r for r in results if kind(r) == "passed").units
        if worst is not None:
            said += f", its largest error {number(worst, 2)} of {number(constant, 3)} units allowed"
    else:
        said = f"{name} passes none of {plural(count.records, 'record')}"
    # A failed run has its other counts elsewhere; one that passed must say here what it did not prove.
    rest = [] if failed else [f"{count.kinds[k]:,} {text}" for k, text in _REST.items() if count.kinds[k]]
    return f"{said} ({', '.join(rest)})" if rest else said


_REST = {"known": "known to fail", "doubtful": "without evidence", "unsupported": "unsupported"}
