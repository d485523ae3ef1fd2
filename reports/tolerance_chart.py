"""A chart of tolerances: how many times what is allowed right kernels and wrong ones are off, as an SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from opproof.reports.tolerance import ToleranceReport

#: Pixels of the names, of the axis, of all with the margin to the right.
_NAMES = 260
_AXIS = 400
_WIDTH = 720
#: Pixels of a row, and of what stands above and below the rows of a result.
_ROW = 18
_HEAD = 26
_FOOT = 34
#: Powers of ten that the axis has at most to each side of the tolerance: what is further off lies at its end.
_DECADES = 8
#: Colours of what passes and is wrong, of what is right, and of what fails.
_RED = "#b3221d"
_GREEN = "#17663f"
_GREY = "#596067"


class ToleranceRow(NamedTuple):
    """What one row shows: how far a kernel is off, in times of what is allowed."""

    name: str
    least: float
    most: float
    colour: str


def render_tolerance_chart(titled: Sequence[tuple[str, ToleranceReport]]) -> str:
    """Draw each result with its title: wrong kernels left of the line pass, right ones right of it are rejected."""
    parts, y = [], 0
    for title, report in titled:
        panel, height = _draw_panel(f"{title}  {report.name}  {report.tolerance}", list_bars(report), y)
        parts.append(panel)
        y += height
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {y}" width="{_WIDTH}" height="{y}" role="img" '
        f'aria-label="Errors of right and wrong kernels, and the tolerance"><rect width="100%" height="100%" '
        f'fill="#fff"/><g font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">{"".join(parts)}</g></svg>\n'
    )


def list_bars(report: ToleranceReport) -> list[ToleranceRow]:
    """The right kernels' row, from their median element to their worst, and one for each wrong kernel."""
    rows = [ToleranceRow("right kernels", *report.honest, _GREEN)]
    wrong = sorted(report.excess.items(), key=lambda pair: pair[1])
    return rows + [ToleranceRow(name, times, times, _GREY if times > 1 else _RED) for name, times in wrong]


def _draw_panel(title: str, bars: Sequence[ToleranceRow], top: int) -> tuple[str, int]:
    numbers = [t for bar in bars for t in (bar.least, bar.most) if 0 < t < math.inf]
    reach = [min(max(math.ceil(sign * math.log10(t)) for t in (1, *numbers)), _DECADES) or 1 for sign in (-1, 1)]

    def place(times: float) -> float:
        power = math.log10(times) if 0 < times < math.inf else math.copysign(math.inf, times - 1)
        return _NAMES + _AXIS * (min(max(power, -reach[0]), reach[1]) + reach[0]) / sum(reach)

    first, last = top + _HEAD, top + _HEAD + _ROW * len(bars)
    parts = [f'<text x="8" y="{top + 17}" font-weight="bold">{escape(title)}</text>']
    for i, bar in enumerate(bars):
        y, left, right = first + _ROW * i + _ROW // 2, place(bar.least), place(bar.most)
        parts.append(f'<text x="{_NAMES - 10}" y="{y + 4}" text-anchor="end">{escape(bar.name)}</text>')
        parts.append(
            f'<path d="M{left:.1f} {y}H{right:.1f}" stroke="{bar.colour}" stroke-width="8" stroke-linecap="round">'
            f"<title>{escape(bar.name)}: {bar.most:.2g} times what is allowed</title></path>"
        )
    parts.append(f'<path d="M{place(1):.1f} {first}V{last}" stroke="#000" stroke-dasharray="4 3"/>')
    marks = [(10.0 ** -reach[0], f"1e-{reach[0]}"), (1.0, "1"), (10.0 ** reach[1], f"1e{reach[1]}")]
    parts.append(f'<text x="{_NAMES - 30}" y="{last + 14}" text-anchor="end">times what is allowed</text>')
    for times, words in marks:
        parts.append(f'<text x="{place(times):.1f}" y="{last + 14}" text-anchor="middle">{words}</text>')
    return "".join(parts), _HEAD + _ROW * len(bars) + _FOOT
