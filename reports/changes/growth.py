"""Figures that grew though all passes: the largest error, RMS and bias of each operator, dtype and mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isnan

from opproof.reports._kinds import allowed, severity
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


def grown(passing: Sequence[Changed], units: float, rms: float) -> tuple[set[int], list[Moved]]:
    """The ids of the records to show for what grew, one an operator, dtype and mode; and all that grew of it."""
    limits = {Figure.UNITS: units, Figure.RMS: rms, Figure.BIAS: rms}
    shown: set[int] = set()
    moved: list[tuple[float, Moved]] = []
    for what, some in grouped(passing, lambda r: f"{r.op} {r.dtype} {r.mode}").items():
        larger = [g for figure, limit in limits.items() if (g := _growth(what, figure, some, limit)) is not None]
        shown.update(id(worst) for _, worst, _ in larger[:1])
        moved += [(by, m) for by, _, m in larger]
    return shown, [m for _, m in sorted(moved, key=lambda pair: -pair[0])]


def _growth(what: str, figure: Figure, some: Sequence[Changed], limit: float) -> tuple[float, Changed, Moved] | None:
    """How many times larger the largest figure of `some` is, whose it is, from what to what; None within `limit`."""
    size = _SIZES[figure]
    before, worst = None, None
    most, largest = 0.0, 0.0
    for c in some:
        was, now = None if c.before is None else size(c.before), size(c.after)
        if was is None or now is None:
            continue
        if before is None or was > most:
            before, most = c.before, was
        if worst is None or now > largest:
            worst, largest = c, now
    if before is None or worst is None:
        return None
    after = worst.after
    grew = times(figure, before, after)
    if grew <= limit:
        return None
    limits = (before.limit, after.limit) if figure is Figure.UNITS else (None, None)
    return grew, worst, Moved(what, figure, _value(figure, before), _value(figure, after), limits, after.case)


def times(figure: Figure, before: Result, after: Result) -> float:
    """How many times larger a figure is, counted from what is as good as nothing."""
    was = max(_SIZES[figure](before) or 0.0, _least(figure, after))
    now = _SIZES[figure](after) or 0.0
    return 1.0 if was == now else now / was


def _value(figure: Figure, result: Result) -> float:
    """The figure as the record has it."""
    if figure is Figure.UNITS:
        return 0.0 if result.units is None else severity(result.units)
    return (result.rms if figure is Figure.RMS else result.bias) or 0.0


def _units(result: Result) -> float:
    units = result.units
    if not isinstance(units, float) or isnan(units):
        units = _value(Figure.UNITS, result)
    return units / _per(result)


def _rms(result: Result) -> float | None:
    return result.rms


def _bias(result: Result) -> float | None:
    return None if result.bias is None else abs(result.bias)


#: A figure as it compares; None where the record has none.
_SIZES: dict[Figure, Callable[[Result], float | None]] = {
    Figure.UNITS: _units,
    Figure.RMS: _rms,
    Figure.BIAS: _bias,
}


def _least(figure: Figure, result: Result) -> float:
    """A size below which growth is not counted."""
    if figure is Figure.UNITS:
        return LEAST_UNITS / _per(result)
    return LEAST_RMS if figure is Figure.RMS else LEAST_BIAS


def _per(result: Result) -> float:
    """What units are counted in: the limit, or one where bits had to be met."""
    return allowed(result) or 1.0


def grouped(passing: Sequence[Changed], key: Callable[[Result], str]) -> dict[str, list[Changed]]:
    """By a text, with the backend where there are several; sorted by it."""
    several = len({c.after.backend for c in passing}) > 1
    groups: dict[str, list[Changed]] = {}
    for c in passing:
        groups.setdefault(f"{key(c.after)} {c.after.backend}" if several else key(c.after), []).append(c)
    return dict(sorted(groups.items()))
