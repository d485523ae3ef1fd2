"""What changed from one run to another: verdicts, cases, errors, durations. From the records alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from opproof.reports._record import Header, Result
from opproof.reports._summary import grouped, kind, severity
from opproof.reports._text import number, plural
from opproof.vocabulary.verdicts import FAILED

#: An error below this many units of honest rounding is as good as none; growth is counted from here.
LEAST_UNITS = 0.5
#: Seconds by which an operator must be slower in all: shorter durations are noise.
LEAST_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Pair:
    """One case, mode and backend in both runs."""

    before: Result
    after: Result


@dataclass(frozen=True, slots=True)
class Moved:
    """A figure of one operator that grew: its largest error in units, or its seconds."""

    what: str  # operator, dtype, mode, backend
    before: float
    after: float
    case: str = ""  # the one with the largest error now


@dataclass(frozen=True, slots=True)
class Changes:
    """All that differs. `broken`, `lost`, `new_failing`, `grown`, `slower` and `cut_short` are regressions."""

    compared: int
    broken: tuple[Pair, ...]  # did not fail, fails now
    lost: tuple[Pair, ...]  # passed, and now proves nothing: declined, or without evidence
    mended: tuple[Pair, ...]  # failed, and does not now
    other: tuple[Pair, ...]  # any other change of verdict
    new: tuple[Result, ...]
    vanished: tuple[Result, ...]
    grown: tuple[Moved, ...]
    slower: tuple[Moved, ...]
    cut_short: int  # records planned that the new run does not have
    notes: tuple[str, ...]

    @property
    def new_failing(self) -> tuple[Result, ...]:
        """Cases that the baseline does not have, and that fail unexpectedly."""
        return tuple(r for r in self.new if kind(r) == "failed")

    @property
    def regressions(self) -> int:
        """How many things are worse; 0 when the new run may replace the old."""
        worse = (self.broken, self.lost, self.new_failing, self.grown, self.slower)
        return sum(map(len, worse)) + (self.cut_short > 0)


def unlike(before: Header, after: Header) -> list[str]:
    """Why the two runs cannot be compared, each as half a sentence; empty when they can."""
    found = []
    if before.constant != after.constant:
        found.append(f"their bounds differ (C = {number(before.constant)} and {number(after.constant)} units)")
    if before.opproof != after.opproof:
        found.append(
            f"they come from opproof {before.opproof} and {after.opproof}, whose cases and references may differ"
        )
    old, new = _rules(before), _rules(after)
    both = sorted(old.keys() & new.keys())
    return found + [f"{name} was {old[name]!r} and is {new[name]!r}" for name in both if old[name] != new[name]]


def changes(
    before: tuple[Header, Sequence[Result]],
    after: tuple[Header, Sequence[Result]],
    *,
    units_growth: float = 8.0,
    slowdown: float | None = None,
) -> Changes:
    """Compare two runs. `units_growth`: how many times larger the largest error of what passes in both may get, by
    operator, dtype and mode. `slowdown`: how many times slower an operator may get; None: not looked at.
    """
    names, notes = _names(before[1], after[1])
    old = {(r.case, r.mode, r.backend): r for r in before[1]}
    pairs, new = [], []
    for r in after[1]:
        was = old.pop((r.case, r.mode, names.get(r.backend, r.backend)), None)
        if was is None:
            new.append(r)
        else:
            pairs.append(Pair(was, r))
    differ = [p for p in pairs if p.before.verdict != p.after.verdict]
    broken = [p for p in differ if p.before.verdict not in FAILED and kind(p.after) == "failed"]
    lost = [p for p in differ if p.before.verdict == "PASS" and p.after.verdict not in FAILED]
    mended = [p for p in differ if p.before.verdict in FAILED and p.after.verdict not in FAILED]
    seen = {id(p) for some in (broken, lost, mended) for p in some}
    passing = [p for p in pairs if p.before.verdict == p.after.verdict == "PASS"]
    missing = after[0].cases - len(after[1])
    notes += _set_notes(before, after, len(new), len(old))
    if slowdown is not None and not any(p.before.seconds for p in pairs):
        notes.append("The baseline holds no durations: how fast it is was not compared.")
    return Changes(
        compared=len(pairs),
        broken=tuple(broken),
        lost=tuple(lost),
        mended=tuple(mended),
        other=tuple(p for p in differ if id(p) not in seen),
        new=tuple(new),
        vanished=tuple(old.values()),
        grown=tuple(_grown(passing, units_growth)),
        slower=tuple(_slower(passing, slowdown) if slowdown is not None else ()),
        cut_short=max(0, missing),
        notes=tuple(notes),
    )


def _rules(header: Header) -> dict[str, object]:
    """The options by which the same case is judged differently, or is another case."""
    selection = header.options.get("selection", {})
    names = ("convention", "grad_oracle", "strict_subnormals")
    found = {name: header.options[name] for name in names if name in header.options}
    return found | ({"seed": selection["seed"]} if "seed" in selection else {})


def _names(before: Sequence[Result], after: Sequence[Result]) -> tuple[dict[str, str], list[str]]:
    """What each backend of the new run is called in the old; two runs of one backend each need not agree."""
    old, new = {r.backend for r in before}, {r.backend for r in after}
    if old & new or len(old) != 1 or len(new) != 1:
        return {}, []
    (was,), (now,) = old, new
    return {now: was}, [f"Backend {now} is compared with {was} of the baseline."]


def _set_notes(
    before: tuple[Header, Sequence[Result]], after: tuple[Header, Sequence[Result]], new: int, vanished: int
) -> list[str]:
    if not new and not vanished:
        return []
    counts = f"{plural(new, 'record')} new, {vanished:,} vanished; only what both have is compared"
    mine, its = (h.options.get("selection", {}) for h in (after[0], before[0]))
    differ = sorted(name for name in mine.keys() & its.keys() if mine[name] != its[name])
    if differ:
        return [f"The two runs did not try the same: {', '.join(differ)} differ ({counts})."]
    if after[0].cases > len(after[1]):
        return [f"The new run was cut short ({counts})."]
    return [f"The registry of cases changed ({counts}); `opproof baseline update` takes the new one over."]


def _grown(passing: Sequence[Pair], limit: float) -> list[Moved]:
    found = []
    for what, some in _grouped(passing, lambda r: f"{r.op} {r.dtype} {r.mode}").items():
        worst = max(some, key=lambda p: _units(p.after))
        was, now = max(_units(p.before) for p in some), _units(worst.after)
        if now > limit * max(was, LEAST_UNITS):
            found.append(Moved(what, was, now, worst.after.case))
    return sorted(found, key=lambda m: -m.after / max(m.before, LEAST_UNITS))


def _slower(passing: Sequence[Pair], limit: float) -> list[Moved]:
    found = []
    for what, some in _grouped(passing, lambda r: r.op).items():
        was, now = sum(p.before.seconds for p in some), sum(p.after.seconds for p in some)
        if was > 0 and now > limit * was and now - was > LEAST_SECONDS:
            found.append(Moved(what, was, now))
    return sorted(found, key=lambda m: -m.after / m.before)


def _grouped(pairs: Sequence[Pair], key: Callable[[Result], str]) -> dict[str, list[Pair]]:
    several = len({p.after.backend for p in pairs}) > 1
    by_case = {id(p.after): p for p in pairs}
    groups = grouped((p.after for p in pairs), lambda r: f"{key(r)} {r.backend}" if several else key(r))
    return {what: [by_case[id(r)] for r in some] for what, some in groups.items()}


def _units(result: Result) -> float:
    return 0.0 if result.units is None else severity(result.units)
