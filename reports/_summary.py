"""What every rendering needs: counts, largest errors, the sentence that says how the run ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from opproof.reports._kinds import LABELS, Kind, allowed, kind, severity, share, worst_first
from opproof.reports._record import Header, Result
from opproof.reports._text import line, number, plural, short_names, telling
from opproof.reports.causes import causes
from opproof.vocabulary.verdicts import MEANING


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of some records, and those with the largest error, as a share of its limit: of those that pass, and of
    those that fail unexpectedly.

    Two errors, because the largest of a broken operator says nothing of what still passes; None where none has one.
    RMS and bias are those of whole arrays that pass.
    """

    records: int
    kinds: Counter[Kind]
    verdicts: Counter[str]
    passing: Result | None
    failing: Result | None
    rms: float | None  # the largest
    bias: float | None  # the largest in size, with its sign


@dataclass(frozen=True, slots=True)
class Row:
    """The records of one operator on one backend."""

    op: str
    backend: str
    tally: Tally


def tally(results: Iterable[Result]) -> Tally:
    """Count records by kind and verdict."""
    kinds: Counter[Kind] = Counter()
    verdicts: Counter[str] = Counter()
    largest: dict[Kind, tuple[tuple[float, ...], Result]] = {}
    rms, biases = [], []
    for result in results:
        what = kind(result)
        kinds[what] += 1
        verdicts[result.verdict] += 1
        if result.units is not None:
            size = (share(result), severity(result.units), allowed(result))
            if what not in largest or size > largest[what][0]:
                largest[what] = size, result
        if what is Kind.PASSED and result.rms is not None and result.bias is not None:
            rms.append(result.rms)
            biases.append(result.bias)
    worst = {what: result for what, (_, result) in largest.items()}
    return Tally(
        records=sum(kinds.values()),
        kinds=kinds,
        verdicts=verdicts,
        passing=worst.get(Kind.PASSED),
        failing=worst.get(Kind.FAILED),
        rms=max(rms, default=None),
        bias=max(biases, key=abs, default=None),
    )


def table(results: Iterable[Result]) -> list[Row]:
    """A row for each operator and backend, sorted by them."""
    groups = grouped(results, lambda r: f"{r.op}\0{r.backend}").values()
    return [Row(some[0].op, some[0].backend, tally(some)) for some in groups]


def of_arrays(some: Tally) -> list[str]:
    """RMS and bias for a table, to a hundredth."""
    return ["" if value is None else number(round(value, 2) + 0.0, 2) for value in (some.rms, some.bias)]


def largest(some: Tally, *, failing: bool) -> list[str]:
    """The largest errors for a table: of those that pass, and of those that are `failing` where they have a column."""
    records = [some.passing, *[some.failing] * failing]
    return ["" if r is None or r.units is None else number(r.units, telling(r.units, allowed(r), 2)) for r in records]


def grouped(results: Iterable[Result], key: Callable[[Result], str]) -> dict[str, list[Result]]:
    """Records by a text, sorted by it."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(key(result), []).append(result)
    return dict(sorted(groups.items()))


def _of(results: Iterable[Result], what: Kind) -> list[Result]:
    return [r for r in results if kind(r) is what]


def failures(results: Sequence[Result]) -> list[Result]:
    """Unexpected failures, by operator, worst first."""
    failed = _of(results, Kind.FAILED)
    return sorted((failed[place] for place in worst_first(failed)), key=lambda r: r.op)


def reasons(results: Iterable[Result], what: Kind) -> list[tuple[str, list[Result]]]:
    """Records of one kind by why they are of it, the most frequent reason first."""
    records = _of(results, what)
    groups = grouped(records, lambda r: line(r.known if what is Kind.KNOWN else r.message) or MEANING[r.verdict])
    return sorted(groups.items(), key=lambda pair: -len(pair[1]))


def sentence(header: Header, results: Sequence[Result]) -> str:
    """How the run ended, in one sentence; nothing run, or not everything, is never success."""
    if not results:
        return "No case ran, so nothing is known about the backend."
    names = short_names({r.backend for r in results})
    groups = grouped(results, lambda r: r.backend)
    every = len({r.op for r in results})
    parts = [_outcome(line(names[backend]), some, every) for backend, some in groups.items()]
    if (missing := header.cases - len(results)) > 0:
        parts.append(f"{plural(missing, 'planned record')} did not run")
    if text := own_faults(results):
        parts.append(text)
    return f"{'; '.join(parts)}{'' if parts[-1].endswith(('.', '…')) else '.'}"


def own_faults(results: Sequence[Result]) -> str:
    """On how many records opproof itself failed, and why; nothing where it did not."""
    faults = reasons(results, Kind.HARNESS_ERROR)
    if not faults:
        return ""
    count = plural(sum(len(some) for _, some in faults), "record")
    why = "; ".join(text if len(text) <= 200 else f"{text[:199]}…" for text, _ in faults[:2])
    return f"opproof itself failed on {count}: {why}{'; …' if len(faults) > 2 else ''}"


def reach(results: Sequence[Result]) -> str:
    """A sentence where the backend could reach what judged it; nothing otherwise."""
    count = sum(r.in_process for r in results)
    if not count:
        return ""
    what = "The backend" if count == len(results) else f"In {count:,} of {plural(len(results), 'record')} the backend"
    return f"{what} ran in opproof's own process, within reach of what judges it."


def _outcome(name: str, results: Sequence[Result], every: int) -> str:
    """Of one backend; `every` is how many operators the run has."""
    count = tally(results)
    failed, passed = count.kinds[Kind.FAILED], count.kinds[Kind.PASSED]
    judged = count.records - count.kinds[Kind.HARNESS_ERROR]
    if not judged:
        return f"nothing is known about {name}"
    records = plural(judged, "record")
    if failed:
        ops = sorted({r.op for r in _of(results, Kind.FAILED)})
        named = ", ".join(map(line, ops[:3])) + (", …" if len(ops) > 3 else "")
        # The other counts stand elsewhere in a report of failures.
        found = plural(len(causes(_of(results, Kind.FAILED))), "cause")
        return f"{name} fails {failed:,} of {records}: {found} in {plural(len(ops), 'operator')} ({named})"
    text = f"{name} passes none of {records}"
    if passed:
        ops = sorted({r.op for r in _of(results, Kind.PASSED)})
        text = f"{name} passes {passed:,} of {records} in {_of_all(len(ops), every)}"
        if count.passing is not None:
            text += f", {_nearest(count.passing)}"
    # What passed must say here what it did not prove.
    rest = [f"{count.kinds[k]:,} {name}" for k, name in _REST.items() if count.kinds[k]]
    return f"{text} ({', '.join(rest)})" if rest else text


def _of_all(some: int, every: int) -> str:
    return plural(every, "operator") if some == every else f"{some:,} of {plural(every, 'operator')}"


def ran(header: Header, results: Sequence[Result]) -> str:
    """What the run has: 1,200 records of 1,300 planned, 300 cases, 50 operators"""
    count = len(results)
    planned = f" of {header.cases:,} planned" if header.cases > count else ""
    cases, ops = len({r.case for r in results}), len({r.op for r in results})
    return f"{plural(count, 'record')}{planned}, {plural(cases, 'case')}, {plural(ops, 'operator')}"


def _nearest(result: Result) -> str:
    """How near to its limit the largest error of what passes is."""
    most = allowed(result)
    if not most:
        return "bit for bit"
    digits = 2 if result.units is None else telling(result.units, most, 2)
    return f"its largest error {number(result.units, digits)} of {number(most, max(3, digits))} units allowed"


_REST = {
    Kind.KNOWN: "known to fail",
    Kind.NO_EVIDENCE: LABELS[Kind.NO_EVIDENCE],
    Kind.UNSUPPORTED: LABELS[Kind.UNSUPPORTED],
}
