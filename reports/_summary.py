"""What every rendering needs: counts, largest errors, the sentence that says how the run ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from opproof.core.verdicts import MEANING, Mode, Verdict, read_beyond
from opproof.reports._kinds import (
    FAILING,
    LABELS,
    ResultKind,
    allowed_units_of,
    result_kind_of,
    severity_of,
    share,
    sort_worst_first,
)
from opproof.reports._record import Header, Result
from opproof.reports._text import (
    count_telling_digits,
    describe_coverage,
    format_count,
    format_line,
    number,
    short_names_of,
)
from opproof.reports.causes import find_causes


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of some records, and those with the largest error, as a share of its limit: of those that pass, and of
    those that fail unexpectedly.

    Two errors, because the largest of a broken operator says nothing of what still passes; None where none has one.
    RMS and bias are those of whole arrays that pass.
    """

    records: int
    kinds: Counter[ResultKind]
    verdicts: Counter[str]
    passing: Result | None
    failing: Result | None
    rms: float | None  # the largest
    bias: float | None  # the largest in size, with its sign


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """The records of one operator on one backend."""

    op: str
    backend: str
    tally: Tally


def tally(results: Iterable[Result]) -> Tally:
    """Count records by kind and verdict."""
    some = list(results)
    by_kind: dict[ResultKind, list[Result]] = {}
    for result in some:
        by_kind.setdefault(result_kind_of(result), []).append(result)
    passed = by_kind.get(ResultKind.PASSED, [])
    arrays = [r for r in passed if r.rms is not None and r.bias is not None]
    return Tally(
        records=len(some),
        kinds=Counter({what: len(these) for what, these in by_kind.items()}),
        verdicts=Counter([r.verdict for r in some]),
        passing=_find_farthest(passed),
        failing=_find_farthest(by_kind.get(ResultKind.FAILED, [])),
        rms=max([r.rms for r in arrays if r.rms is not None], default=None),
        bias=max([r.bias for r in arrays if r.bias is not None], key=abs, default=None),
    )


def _find_farthest(results: Iterable[Result | None]) -> Result | None:
    """The record with the largest error, as a share of its limit; None where none has a number."""
    measured = [r for r in results if r is not None and r.units is not None]
    return max(measured, key=lambda r: (share(r), severity_of(r.units), allowed_units_of(r)), default=None)


def join_tallies(tallies: Sequence[Tally]) -> Tally:
    """The tally of the records of all."""
    rms = [t.rms for t in tallies if t.rms is not None]
    return Tally(
        records=sum(t.records for t in tallies),
        kinds=sum((t.kinds for t in tallies), Counter()),
        verdicts=sum((t.verdicts for t in tallies), Counter()),
        passing=_find_farthest(t.passing for t in tallies),
        failing=_find_farthest(t.failing for t in tallies),
        rms=max(rms, default=None),
        bias=max((t.bias for t in tallies if t.bias is not None), key=abs, default=None),
    )


def kinds_of(results: Iterable[Result]) -> Counter[ResultKind]:
    """How many records are of each kind."""
    return Counter(map(result_kind_of, results))


def make_table(results: Iterable[Result]) -> list[SummaryRow]:
    """A row for each operator and backend, sorted by them."""
    groups = group_results(results, lambda r: f"{r.op}\0{r.backend}").values()
    return [SummaryRow(some[0].op, some[0].backend, tally(some)) for some in groups]


def of_arrays(some: Tally) -> list[str]:
    """RMS and bias for a table, to a hundredth."""
    return ["" if value is None else number(round(value, 2) + 0.0, 2) for value in (some.rms, some.bias)]


def format_largest(some: Tally, *, failing: bool) -> list[str]:
    """The largest errors for a table: of those that pass, and of those that are `failing` where they have a column."""
    records = [some.passing, *[some.failing] * failing]
    return [
        "" if r is None or r.units is None else number(r.units, count_telling_digits(r.units, allowed_units_of(r), 2))
        for r in records
    ]


def group_results(results: Iterable[Result], key: Callable[[Result], str]) -> dict[str, list[Result]]:
    """Records by a text, sorted by it."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(key(result), []).append(result)
    return dict(sorted(groups.items()))


def _of(results: Iterable[Result], what: ResultKind) -> list[Result]:
    return [r for r in results if result_kind_of(r) is what]


def list_failures(results: Sequence[Result]) -> list[Result]:
    """Unexpected failures, by operator, worst first."""
    failed = _of(results, ResultKind.FAILED)
    return sorted((failed[place] for place in sort_worst_first(failed)), key=lambda r: r.op)


def group_by_reason(results: Iterable[Result], what: ResultKind) -> list[tuple[str, list[Result]]]:
    """Records of one kind by why they are of it, the most frequent reason first."""
    records = _of(results, what)
    groups = group_results(
        records, lambda r: format_line(r.known if what is ResultKind.KNOWN else r.message) or MEANING[r.verdict]
    )
    return sorted(groups.items(), key=lambda pair: -len(pair[1]))


def summarise_run(header: Header, results: Sequence[Result], rows: Sequence[SummaryRow] | None = None) -> str:
    """How the run ended, in one sentence; nothing run, or not everything, is never success.

    `rows` is the table of the results, where it is at hand.
    """
    if not results:
        return "No case ran, so nothing is known about the backend."
    rows = make_table(results) if rows is None else rows
    names = short_names_of({row.backend for row in rows})
    every = len({row.op for row in rows})
    failed = group_results(_of(results, ResultKind.FAILED), lambda r: r.backend)
    parts = [
        _describe_outcome(
            format_line(names[backend]), [r for r in rows if r.backend == backend], failed.get(backend, []), every
        )
        for backend in sorted(names)
    ]
    if (missing := header.cases - len(results)) > 0:
        parts.append(f"{format_count(missing, 'planned record')} did not run")
    if text := describe_own_faults(results):
        parts.append(text)
    return f"{'; '.join(parts)}{'' if parts[-1].endswith(('.', '…')) else '.'}"


def describe_own_faults(results: Sequence[Result]) -> str:
    """On how many records opproof itself failed, and why; nothing where it did not."""
    faults = group_by_reason(results, ResultKind.HARNESS_ERROR)
    if not faults:
        return ""
    count = format_count(sum(len(some) for _, some in faults), "record")
    why = "; ".join(text if len(text) <= 200 else f"{text[:199]}…" for text, _ in faults[:2])
    return f"opproof itself failed on {count}: {why}{'; …' if len(faults) > 2 else ''}"


def describe_provisos(results: Sequence[Result]) -> str:
    """What the records do not prove, in sentences: cases beyond the limit of memory, outputs left out, a backend within
    reach of its judge. And how many are of wrong calls, which prove something else than the others.
    """
    described = _describe_beyond(results), _describe_left_out(results), _describe_refusals(results), _reach(results)
    return " ".join(filter(None, described))


def _describe_refusals(results: Sequence[Result]) -> str:
    """By backend how many wrong calls are refused, and how many are not."""
    wrong = group_results((r for r in results if r.mode is Mode.REFUSAL), lambda r: r.backend)
    names = short_names_of(wrong)
    told = []
    for backend, some in wrong.items():
        kinds = kinds_of(some)
        bad = sum(kinds[kind] for kind in FAILING)
        said = f"{format_line(names[backend])} refuses {kinds[ResultKind.PASSED]:,} of {len(some):,} wrong calls"
        ops = format_count(len({r.op for r in some if result_kind_of(r) in FAILING}), "operator")
        told.append(f"{said}{f', and does not refuse {bad:,} in {ops}' * bool(bad)}.")
    return " ".join(told)


def is_beyond(result: Result) -> bool:
    """Whether nobody was asked, since the tensors alone are more than opproof's own limit allows."""
    return result.verdict is Verdict.UNSUPPORTED and read_beyond(result.message) is not None


def _describe_beyond(results: Sequence[Result]) -> str:
    found = [read_beyond(r.message) for r in results if r.verdict is Verdict.UNSUPPORTED]
    some = [sizes for sizes in found if sizes is not None]
    if not some:
        return ""
    most, limit = max(needed for needed, _ in some), max(allowed for _, allowed in some)
    return (
        f"{format_count(len(some), 'record')} not asked for: their tensors alone take up to {most} MiB, more than the "
        f"limit of {limit}; give --memory above {most}."
    )


def _describe_left_out(results: Sequence[Result]) -> str:
    some = [r for r in results if r.left_out]
    if not some:
        return ""
    outputs = " and ".join(format_line(name) for name in sorted({name for r in some for name in r.left_out}))
    ops = sorted({format_line(r.op) for r in some})
    return f"{format_count(len(some), 'record')} of {', '.join(ops)} judged without {outputs}, which did not come."


def _reach(results: Sequence[Result]) -> str:
    count = sum(r.in_process for r in results)
    if not count:
        return ""
    what = (
        "The backend"
        if count == len(results)
        else f"In {count:,} of {format_count(len(results), 'record')} the backend"
    )
    return f"{what} ran in opproof's own process, within reach of what judges it."


def _describe_outcome(name: str, rows: Sequence[SummaryRow], failures: Sequence[Result], every: int) -> str:
    """Of one backend, its rows of the table and what fails; `every` is how many operators the run has."""
    count = join_tallies([row.tally for row in rows])
    failed, passed = count.kinds[ResultKind.FAILED], count.kinds[ResultKind.PASSED]
    judged = count.records - count.kinds[ResultKind.HARNESS_ERROR]
    if not judged:
        return f"nothing is known about {name}"
    records = format_count(judged, "record")
    if failed:
        ops = sorted({r.op for r in failures})
        named = ", ".join(map(format_line, ops[:3])) + (", …" if len(ops) > 3 else "")
        # The other counts stand elsewhere in a report of failures.
        found = format_count(len(find_causes(failures)), "cause")
        return f"{name} fails {failed:,} of {records}: {found} in {format_count(len(ops), 'operator')} ({named})"
    text = f"{name} passes none of {records}"
    if passed:
        ops = sorted(row.op for row in rows if row.tally.kinds[ResultKind.PASSED])
        text = f"{name} passes {passed:,} of {records} in {_of_all(len(ops), every)}"
        if count.passing is not None:
            text += f", {_describe_nearest(count.passing)}"
    # What passed must say here what it did not prove.
    rest = [f"{count.kinds[k]:,} {name}" for k, name in _REST.items() if count.kinds[k]]
    return f"{text} ({', '.join(rest)})" if rest else text


def _of_all(some: int, every: int) -> str:
    return format_count(every, "operator") if some == every else f"{some:,} of {format_count(every, 'operator')}"


def describe_extent(header: Header, results: Sequence[Result]) -> str:
    """What the run has: 1,200 records of 1,300 planned, 300 cases, 50 operators"""
    count = len(results)
    planned = f" of {header.cases:,} planned" if header.cases > count else ""
    cases, ops = len({r.case for r in results}), len({r.op for r in results})
    covered = [text] if (text := describe_coverage(header)) else []
    counts = format_count(cases, "case"), format_count(ops, "operator")
    return ", ".join([f"{format_count(count, 'record')}{planned}", *counts, *covered])


def _describe_nearest(result: Result) -> str:
    """How near to its limit the largest error of what passes is."""
    most = allowed_units_of(result)
    if not most:
        return "bit for bit"
    digits = 2 if result.units is None else count_telling_digits(result.units, most, 2)
    return f"its largest error {number(result.units, digits)} of {number(most, max(3, digits))} units allowed"


_REST = {
    ResultKind.KNOWN: "known to fail",
    ResultKind.NO_EVIDENCE: LABELS[ResultKind.NO_EVIDENCE],
    ResultKind.UNSUPPORTED: LABELS[ResultKind.UNSUPPORTED],
}
