"""The page of a history: sparklines by operator and backend over runs, and an index of the runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from opproof.reports._text import number
from opproof.reports.files import write
from opproof.reports.history.badge import render_badge
from opproof.reports.history.kept import RUNS, HistoryRow, HistoryRun, format_percent, rate

_HERE = Path(__file__).parent
_LINE_WIDTH = 120.0
_LINE_HEIGHT = 22.0
_LINE_EDGE = 3.0
#: Runs that a sparkline shows.
_MAX_SHOWN_RUNS = 60


@dataclass(frozen=True)
class Point:
    """A run's value in a sparkline."""

    x: float
    y: float
    title: str
    bad: bool = False


@dataclass(frozen=True)
class Line:
    """One sparkline: strokes between values that follow each other, and the last value in words."""

    strokes: tuple[str, ...]  # the points of an SVG polyline each
    points: tuple[Point, ...]
    last: str
    worse: bool = False  # than in the run before


@dataclass(frozen=True)
class Series:
    """An operator on a backend, or all operators where `op` is empty."""

    op: str
    judged: int
    rate: Line
    share: Line
    rms: Line

    @property
    def worse(self) -> bool:
        """Whether fewer of its cases pass than in the run before."""
        return self.rate.worse


def publish(history: Path, runs: Sequence[HistoryRun]) -> list[Path]:
    """Write index.html, badge.svg and index.json, which name every run. Raises UsageError."""
    import msgspec

    index = [
        {"file": f"{RUNS}/{r.name}.json", "commit": r.commit, "started": r.started, "passed": r.count().passed,
         "judged": r.count().judged, "failed": r.count().failed}
        for r in runs
    ]  # fmt: skip
    files = {
        "index.html": render(runs),
        "badge.svg": render_badge(runs[-1]),
        "index.json": msgspec.json.format(msgspec.json.encode(index), indent=1).decode() + "\n",
    }
    for name, text in files.items():
        write(history / name, text, instead="give a folder that can be written to.")
    return [history / name for name in files]


def render(runs: Sequence[HistoryRun]) -> str:
    """The page as text."""
    import jinja2
    from markupsafe import Markup

    loader = jinja2.FileSystemLoader(_HERE)
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    backends = dict.fromkeys(row.backend for run in reversed(runs) for row in run.rows)
    page: str = environment.get_template("page.html.j2").render(
        css=Markup((_HERE / "page.css").read_text(encoding="utf-8")),  # noqa: S704 - a file of this folder
        backends=[(backend, list_series(runs, backend)) for backend in backends],
        runs=[(run, run.count(), format_percent(run.count())) for run in reversed(runs)],
        width=int(_LINE_WIDTH),
        height=int(_LINE_HEIGHT),
        folder=RUNS,
    )
    return page


def list_series(runs: Sequence[HistoryRun], backend: str) -> list[Series]:
    """All operators together, then each of them; those that are worse than in the run before come first."""
    shown = runs[-_MAX_SHOWN_RUNS:]
    ops = dict.fromkeys(row.op for run in shown for row in run.rows if row.backend == backend)
    lines = [_make_series(op, shown, [_find_row(run, op, backend) for run in shown]) for op in sorted(ops)]
    whole = [run.count(backend) if any(r.backend == backend for r in run.rows) else None for run in shown]
    return [_make_series("", shown, whole), *sorted(lines, key=lambda s: (not s.worse, s.op))]


def _find_row(run: HistoryRun, op: str, backend: str) -> HistoryRow | None:
    return next((r for r in run.rows if (r.op, r.backend) == (op, backend)), None)


def _make_series(op: str, runs: Sequence[HistoryRun], rows: Sequence[HistoryRow | None]) -> Series:
    rates = [None if r is None else rate(r) for r in rows]
    last = next((r for r in reversed(rows) if r is not None), None)
    return Series(
        op=op,
        judged=0 if last is None else last.judged,
        rate=_draw_line(
            runs, rates, ["" if r is None else format_percent(r) for r in rows], low=0.0, high=1.0, good_is_high=True
        ),
        share=_draw_numbers(runs, [None if r is None else r.share for r in rows]),
        rms=_draw_numbers(runs, [None if r is None else r.rms for r in rows]),
    )


def _draw_numbers(runs: Sequence[HistoryRun], values: Sequence[float | None]) -> Line:
    words = ["" if v is None else number(v, 2) for v in values]
    return _draw_line(runs, values, words, low=0.0, high=max((v for v in values if v is not None), default=1.0) or 1.0)


def _draw_line(
    runs: Sequence[HistoryRun], values: Sequence[float | None], words: Sequence[str], *, low: float, high: float,
    good_is_high: bool = False,
) -> Line:  # fmt: skip
    """Values over runs, `low` at the bottom; a run without a value breaks the stroke."""
    there = [v for v in values if v is not None]
    if good_is_high and there:  # of rates near 1, what is left to 1 is what matters
        low = max(0.0, min(0.99, 2 * min(there) - 1))
    step = (_LINE_WIDTH - 2 * _LINE_EDGE) / max(1, len(values) - 1)
    room = (high - low) or 1.0
    points: list[Point | None] = []
    for i, (run, value, text) in enumerate(zip(runs, values, words, strict=True)):
        if value is None:
            points.append(None)
            continue
        y = _LINE_HEIGHT - _LINE_EDGE - (_LINE_HEIGHT - 2 * _LINE_EDGE) * min(1.0, max(0.0, (value - low) / room))
        title = f"{run.commit[:12] or run.started}: {text}"
        points.append(Point(round(_LINE_EDGE + step * i, 1), round(y, 1), title, good_is_high and value < 1))
    worse = good_is_high and len(there) > 1 and values[-1] is not None and there[-1] < there[-2]
    last = next((w for w, v in zip(reversed(words), reversed(values), strict=True) if v is not None), "")
    return Line(tuple(_draw_strokes(points)), tuple(p for p in points if p is not None), last, worse)


def _draw_strokes(points: Iterable[Point | None]) -> list[str]:
    strokes: list[list[str]] = [[]]
    for point in points:
        if point is None:
            strokes.append([])
        else:
            strokes[-1].append(f"{point.x},{point.y}")
    return [" ".join(stroke) for stroke in strokes if len(stroke) > 1]
