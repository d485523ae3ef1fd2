"""A badge: how the last run ended, as an SVG of a kind that READMEs show."""

from __future__ import annotations

from html import escape

from opproof.reports.history.kept import HistoryRun, format_percent

_GREEN, _RED, _GREY = "#17663f", "#b3221d", "#596067"
#: Width of a character at 11 px, on average; textLength makes every font keep to it.
_CHARACTER_PIXELS = 6.6


def render_badge(run: HistoryRun) -> str:
    """SVG: green where everything judged passes or is known to fail, grey where nothing was, or not all of it."""
    total = run.count()
    if total.failed:
        colour, said = _RED, f"{total.failed:,} of {total.judged:,} fail"
    elif not total.passed or total.harness_error or run.records < run.planned:
        colour, said = _GREY, "no evidence" if not total.passed else "incomplete"
    else:
        known = f", {total.known:,} known" if total.known else ""
        colour, said = _GREEN, f"{format_percent(total)} of {total.judged:,}{known}"
    return _render_svg("opproof", said, colour)


def _render_svg(label: str, said: str, colour: str) -> str:
    left, right = (round(_CHARACTER_PIXELS * len(text)) + 12 for text in (label, said))
    text = "".join(
        f'<text x="{x}" y="14" textLength="{width - 12}" lengthAdjust="spacingAndGlyphs">{escape(words)}</text>'
        for x, width, words in ((6, left, label), (left + 6, right, said))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{escape(f"{label}: {said}")}"><title>{escape(f"{label}: {said}")}</title>'
        f'<rect width="{left + right}" height="20" rx="3" fill="{colour}"/>'
        f'<path d="M3 0H{left}V20H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z" fill="#33383d"/>'
        f'<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">{text}</g></svg>\n'
    )
