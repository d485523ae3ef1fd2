"""The comparison of two runs: verdicts, cases, errors. From the records alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from opproof.core.system import uncollected
from opproof.core.verdicts import Verdict
from opproof.reports._kinds import FAILING, ResultKind, result_kind_of
from opproof.reports._record import Header, Result
from opproof.reports._text import format_count, format_line
from opproof.reports.changes.conditions import describe_difference
from opproof.reports.changes.growth import RMS_GROWTH, UNITS_GROWTH, find_grown, measure_factor
from opproof.reports.changes.record import Change, Changed, Changes, Figure

#: A header and its records.
Run = tuple[Header, Sequence[Result]]


def explain_incomparable(before: Header, after: Header) -> list[str]:
    """Why the two runs cannot be compared, each as half a sentence; empty when they can."""
    differences = []
    if before.constants != after.constants:
        differences.append(f"their bounds differ ({before.bound}; {after.bound})")
    if before.opproof != after.opproof:
        differences.append(
            f"they come from opproof {format_line(before.opproof)} and {format_line(after.opproof)}, "
            "whose cases and references may differ"
        )
    old, new = _rules_of(before), _rules_of(after)
    both = sorted(old.keys() & new.keys())
    return differences + [f"{name} was {old[name]!r} and is {new[name]!r}" for name in both if old[name] != new[name]]


@uncollected()
def compare_runs(
    before: Run, after: Run, *, units_growth: float = UNITS_GROWTH, rms_growth: float = RMS_GROWTH
) -> Changes:
    """Compare two runs. `units_growth`: how many times larger the largest error of what passes in both may get, as a
    share of its limit, by operator, dtype and mode. `rms_growth`: the same of the largest RMS and bias of arrays.
    """
    names, notes = _match_names(before[1], after[1])
    step = _in_step(before[1], after[1], names)
    left = {(r.case, r.mode, r.backend): r for r in before[1][step:]}
    records = []
    for i, now in enumerate(after[1]):
        if i < step:
            was: Result | None = before[1][i]
        else:
            was = left.pop((now.case, now.mode, names.get(now.backend, now.backend)), None)
        records.append(Changed(was, now, _change(was, now, units_growth)))
    passing = [c for c in records if c.before is not None and c.before.verdict is c.after.verdict is Verdict.PASS]
    shown, moved = find_grown(passing, units_growth, rms_growth)
    new = sum(c.before is None for c in records)
    notes += _set_notes(before, after, new, len(left))
    return Changes(
        records=tuple(msgspec.structs.replace(c, change=Change.GROWN) if id(c) in shown else c for c in records),
        vanished=tuple(left.values()),
        grown=tuple(moved),
        cut_short=max(0, after[0].cases - len(after[1])),
        notes=tuple(notes),
        conditions=describe_difference(before[0], after[0]),
    )


def _in_step(before: Sequence[Result], after: Sequence[Result], names: Mapping[str, str]) -> int:
    """How many records from the first on are of the same cases, modes and backends: they need no index."""
    for i, (was, now) in enumerate(zip(before, after, strict=False)):
        if was.case != now.case or was.mode != now.mode or was.backend != names.get(now.backend, now.backend):
            return i
    return min(len(before), len(after))


def _change(was: Result | None, now: Result, growth: float) -> Change:
    """What became of one record; whether its error grew is for all of an operator to say."""
    if was is not None and was.verdict is now.verdict is Verdict.PASS:  # most records, by far
        return Change.SAME
    after = result_kind_of(now)
    if after is ResultKind.HARNESS_ERROR:
        return Change.HARNESS_ERROR
    if was is None:
        return Change.NEW_FAILING if after is ResultKind.FAILED else Change.NEW
    before = result_kind_of(was)
    if after is ResultKind.FAILED and (
        before not in FAILING or (before is ResultKind.KNOWN and _is_other_failure(was, now, growth))
    ):
        return Change.BROKEN
    if before in FAILING and after not in FAILING:
        return Change.MENDED
    if was.verdict == now.verdict:
        return Change.SAME
    return Change.LOST if before is ResultKind.PASSED and after not in FAILING else Change.OTHER


def _is_other_failure(was: Result, now: Result, growth: float) -> bool:
    """Whether a known failure is another one now: of another verdict, or much larger."""
    if was.verdict != now.verdict or now.units is None:
        return was.verdict != now.verdict or was.units is not None
    return was.units is not None and measure_factor(Figure.UNITS, was, now) > growth


def _rules_of(header: Header) -> dict[str, object]:
    """The options by which the same case is judged differently, or is another case."""
    selection = header.options.get("selection", {})
    names = ("convention", "grad_oracle", "strict_subnormals")
    rules = {name: header.options[name] for name in names if name in header.options}
    return rules | ({"seed": selection["seed"]} if "seed" in selection else {})


def _match_names(before: Sequence[Result], after: Sequence[Result]) -> tuple[dict[str, str], list[str]]:
    """What each backend of the new run is called in the old; two runs of one backend each need not agree."""
    old, new = {r.backend for r in before}, {r.backend for r in after}
    if old & new or len(old) != 1 or len(new) != 1:
        return {}, []
    (was,), (now,) = old, new
    return {now: was}, [f"Backend {format_line(now)} is compared with {format_line(was)} of the baseline."]


def _set_notes(before: Run, after: Run, new: int, vanished: int) -> list[str]:
    if not new and not vanished:
        return []
    counts = f"{format_count(new, 'record')} new, {vanished:,} vanished; only what both have is compared"
    mine, its = (h.options.get("selection", {}) for h in (after[0], before[0]))
    differ = sorted(name for name in mine.keys() & its.keys() if mine[name] != its[name])
    if differ:
        return [f"The two runs did not try the same: {format_line(', '.join(differ))} differ ({counts})."]
    if after[0].cases > len(after[1]):
        return [f"The new run was cut short ({counts})."]
    return [f"The registry of cases changed ({counts}); `opproof baseline update` takes the new one over."]
