"""Figures that grew though all passes: the largest error, RMS and bias of each operator, dtype and mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

from opproof.reports._kinds import allowed_units_of, severity_of
from opproof.reports._record import Result
from opproof.reports.changes.record import Changed, Figure, Moved

#: How many times larger an error may get.
UNITS_GROWTH = 8.0
#: How many times larger the RMS or the bias of an array may get: they vary less than the largest error does, and have
#: less room. Of 4,790 pairs of an operator, dtype and mode on two of our backends, 1.4 % and 1.1 % differ by more.
RMS_GROWTH = 3.0
#: An error below this many units of honest rounding is as good as none; growth is counted from here.
LEAST_UNITS = 0.5
#: The same for RMS, and for bias, which is about as large by chance in an array of 16 elements.
LEAST_RMS = 0.25
LEAST_BIAS = 0.15


def find_grown(passing: Sequence[Changed], units: float, rms: float) -> tuple[set[int], list[Moved]]:
    """The ids of the records to show for what grew, one an operator, dtype and mode; and all that grew of it."""
    limits = {Figure.UNITS: units, Figure.RMS: rms, Figure.BIAS: rms}
    shown: set[int] = set()
    moved: list[tuple[float, Moved]] = []
    for what, some in group_changed(passing, _place).items():
        largest = _find_largest(some)
        larger = [
            g for figure, limit in limits.items() if (g := _measure_growth(what, figure, *largest[figure], limit))
        ]
        shown.update(id(worst) for _, worst, _ in larger[:1])
        moved += [(by, m) for by, _, m in larger]
    return shown, [m for _, m in sorted(moved, key=lambda pair: -pair[0])]


def _place(r: Result) -> str:
    return f"{r.op} {r.dtype} {r.mode}"


@dataclass(slots=True)
class _Peak:
    """The largest figure so far, and whose it is."""

    size: float = -1.0
    of: Changed | None = None


def _find_largest(some: Sequence[Changed]) -> dict[Figure, tuple[Changed | None, Changed | None]]:
    """Of each figure whose it was the largest before, and whose it is now; of those that have it both times.

    One pass, written out: records lie scattered in memory, and to fetch hundreds of thousands thrice takes longest.
    """
    units, units_now, rms, rms_now, bias, bias_now = (_Peak() for _ in range(6))
    for c in some:
        before, after = c.before, c.after
        if before is None:
            continue
        if (size := _units_of(before)) > units.size:
            units.size, units.of = size, c
        if (size := _units_of(after)) > units_now.size:
            units_now.size, units_now.of = size, c
        if before.rms is not None and after.rms is not None:
            if before.rms > rms.size:
                rms.size, rms.of = before.rms, c
            if after.rms > rms_now.size:
                rms_now.size, rms_now.of = after.rms, c
        if before.bias is not None and after.bias is not None:
            if (size := abs(before.bias)) > bias.size:
                bias.size, bias.of = size, c
            if (size := abs(after.bias)) > bias_now.size:
                bias_now.size, bias_now.of = size, c
    return {
        Figure.UNITS: (units.of, units_now.of),
        Figure.RMS: (rms.of, rms_now.of),
        Figure.BIAS: (bias.of, bias_now.of),
    }


def _measure_growth(
    what: str, figure: Figure, most: Changed | None, worst: Changed | None, limit: float
) -> tuple[float, Changed, Moved] | None:
    """How many times larger the largest figure is, whose it is, from what to what; None within `limit`."""
    before = None if most is None else most.before
    if before is None or worst is None:
        return None
    after = worst.after
    grew = measure_factor(figure, before, after)
    if grew <= limit:
        return None
    limits = (before.limit, after.limit) if figure is Figure.UNITS else (None, None)
    return grew, worst, Moved(what, figure, _value_of(figure, before), _value_of(figure, after), limits, after.case)


def measure_factor(figure: Figure, before: Result, after: Result) -> float:
    """How many times larger a figure is, counted from what is as good as nothing."""
    was, now = max(_size_of(figure, before), _least_of(figure, after)), _size_of(figure, after)
    return 1.0 if was == now else now / was


def _value_of(figure: Figure, result: Result) -> float:
    """The figure as the record has it."""
    if figure is Figure.UNITS:
        return 0.0 if result.units is None else severity_of(result.units)
    return (result.rms if figure is Figure.RMS else result.bias) or 0.0


def _units_of(r: Result) -> float:
    units, limit = r.units, r.limit
    if type(units) is float and units <= inf and limit is not None:  # as nearly all have it
        return units / (limit or 1.0)
    return _value_of(Figure.UNITS, r) / _unit_of(r)


def _size_of(figure: Figure, result: Result) -> float:
    """A figure as it compares; 0 where the record has none."""
    return _units_of(result) if figure is Figure.UNITS else abs(_value_of(figure, result))


def _least_of(figure: Figure, result: Result) -> float:
    """A size below which growth is not counted."""
    if figure is Figure.UNITS:
        return LEAST_UNITS / _unit_of(result)
    return LEAST_RMS if figure is Figure.RMS else LEAST_BIAS


def _unit_of(result: Result) -> float:
    """What units are counted in: the limit, or one where bits had to be met."""
    return allowed_units_of(result) or 1.0


def group_changed(passing: Sequence[Changed], key: Callable[[Result], str]) -> dict[str, list[Changed]]:
    """By a text, with the backend where there are several; sorted by it."""
    several = len({c.after.backend for c in passing}) > 1
    groups: dict[str, list[Changed]] = {}
    for c in passing:
        groups.setdefault(f"{key(c.after)} {c.after.backend}" if several else key(c.after), []).append(c)
    return dict(sorted(groups.items()))
