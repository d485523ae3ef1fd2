"""bench.html: bars by case, times over size, errors over times, and the roofline."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from opproof.reports._text import short_names_of
from opproof.reports.bench.record import Bench, Caches, Time
from opproof.reports.bench.table import TITLES, describe_looked_at, format_duration, format_row

_HERE = Path(__file__).parent
_PLOT_WIDTH = 460.0
_PLOT_HEIGHT = 300.0
_PLOT_EDGE = 44.0


@dataclass(frozen=True)
class Bar:
    """A backend's time of one case; whiskers are its interval. Widths are shares of the longest of the case."""

    backend: int
    width: float
    low: float
    high: float
    words: str


@dataclass(frozen=True)
class Dot:
    """A point of a plot, in pixels."""

    x: float
    y: float
    backend: int
    title: str


@dataclass(frozen=True)
class Tick:
    """A power of ten on an axis."""

    at: float
    words: str


@dataclass(frozen=True)
class Plot:
    """Points on two logarithmic axes, and a line."""

    title: str
    across: str
    up: str
    dots: tuple[Dot, ...]
    columns: tuple[Tick, ...]
    rows: tuple[Tick, ...]
    line: str = ""  # points of an SVG polyline


def render(bench: Bench) -> str:
    """The page as text."""
    import jinja2
    from markupsafe import Markup

    loader = jinja2.FileSystemLoader(_HERE)
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    measured = [t for t in bench.times if t.interval is not None]
    names = list(dict.fromkeys(t.backend for t in measured))
    rooflines = [_plot_roofline(measured, names, bench, c) for c in Caches]
    short = short_names_of(set(names))
    page: str = environment.get_template("page.html.j2").render(
        css=Markup((_HERE / "page.css").read_text(encoding="utf-8")),  # noqa: S704 - a file of this folder
        bench=bench,
        looked_at=describe_looked_at(bench),
        names=[short[n] for n in names],
        groups=_group_times(measured, names),
        plots=[_plot_sizes(measured, names), _plot_errors(measured, names), *rooflines],
        titles=TITLES,
        rows=[format_row(t, bench) for t in measured],
        left=[t for t in bench.times if t.interval is None],
        width=int(_PLOT_WIDTH),
        height=int(_PLOT_HEIGHT),
        edge=int(_PLOT_EDGE),
    )
    return page


def _group_times(times: Sequence[Time], names: Sequence[str]) -> list[tuple[str, list[tuple[str, list[Bar]]]]]:
    """By operator, the bars of every case, mode and caches."""
    ops: dict[str, dict[str, list[Time]]] = {}
    for t in times:
        ops.setdefault(t.op, {}).setdefault(f"{t.case} {t.mode}, {t.caches}", []).append(t)
    return [(op, [(label, _make_bars(some, names)) for label, some in cases.items()]) for op, cases in ops.items()]


def _make_bars(times: Sequence[Time], names: Sequence[str]) -> list[Bar]:
    known = [(t, t.interval) for t in times if t.interval is not None]
    longest = max(i.high for _, i in known)
    return [
        Bar(
            names.index(t.backend),
            width=round(100 * i.median / longest, 2),
            low=round(100 * i.low / longest, 2),
            high=round(100 * i.high / longest, 2),
            words=f"{format_duration(i.median)} ± {100 * i.half_width:.1f} %",
        )
        for t, i in known
    ]


def _plot_sizes(times: Sequence[Time], names: Sequence[str]) -> Plot:
    points = [(float(t.bytes), t.interval.median * 1e6, t) for t in times if t.interval is not None and t.bytes]
    return _plot("Time over size", "bytes", "µs", points, names)


def _plot_errors(times: Sequence[Time], names: Sequence[str]) -> Plot:
    """Time across, error up: what is faster because it is less precise lies above on the left."""
    points = [(t.interval.median * 1e6, _error_of(t), t) for t in times if t.interval is not None and _error_of(t)]
    return _plot("Error over time", "µs", "units of honest rounding, RMS", points, names)


def _error_of(time: Time) -> float:
    """Its RMS; of few elements the largest error; 0 where none is known."""
    return (time.units if time.rms is None else time.rms) or 0.0


def _plot_roofline(times: Sequence[Time], names: Sequence[str], bench: Bench, caches: Caches) -> Plot:
    """Operations a byte across, GFLOP/s up; the line is what this machine can."""
    roof = bench.roofline
    points = [
        (t.flops / t.bytes, t.flops / t.interval.median / 1e9, t)
        for t in times
        if t.interval is not None and t.bytes and t.flops and t.caches is caches
    ]
    speed = (roof.bytes_per_second if caches is Caches.COLD else roof.cached_bytes_per_second) / 1e9
    peak = roof.flops_per_second / 1e9
    corners = [(peak / speed / 100, peak / 100), (peak / speed, peak), (max(100.0, 10 * peak / speed), peak)]
    return _plot(f"Roofline, caches {caches}", "operations a byte", "GFLOP/s", points, names, corners)


def _plot(
    title: str, across: str, up: str, points: Sequence[tuple[float, float, Time]], names: Sequence[str],
    corners: Sequence[tuple[float, float]] = (),
) -> Plot:  # fmt: skip
    xs = [*(x for x, _, _ in points), *(x for x, _ in corners)]
    ys = [*(y for _, y, _ in points), *(y for _, y in corners)]
    x_axis, y_axis = _Axis.of(xs, _PLOT_EDGE, _PLOT_WIDTH - 8), _Axis.of(ys, _PLOT_HEIGHT - _PLOT_EDGE, 8)
    dots = tuple(
        Dot(x_axis.at(x), y_axis.at(y), names.index(t.backend), f"{t.backend} {t.mode} {t.case} ({t.caches})")
        for x, y, t in points
    )
    line = " ".join(f"{x_axis.at(x)},{y_axis.at(y)}" for x, y in corners)
    return Plot(title, across, up, dots, x_axis.ticks, y_axis.ticks, line)


@dataclass(frozen=True)
class _Axis:
    low: int  # powers of ten
    high: int
    first: float  # pixels
    last: float

    @classmethod
    def of(cls, values: Iterable[float], first: float, last: float) -> _Axis:
        logs = [math.log10(v) for v in values if v > 0] or [0.0]
        low, high = math.floor(min(logs)), math.ceil(max(logs))
        return cls(low, max(high, low + 1), first, last)

    def at(self, value: float) -> float:
        part = (math.log10(value) - self.low) / (self.high - self.low)
        return round(self.first + part * (self.last - self.first), 1)

    @property
    def ticks(self) -> tuple[Tick, ...]:
        step = max(1, (self.high - self.low) // 6)
        return tuple(Tick(self.at(10.0**k), f"{10.0**k:g}") for k in range(self.low, self.high + 1, step))
