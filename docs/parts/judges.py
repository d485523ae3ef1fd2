"""Judges of kernels side by side: what each rejects that is right, and finds that is wrong."""

from __future__ import annotations

from typing import Any

from parts.tables import read, table

#: Of the plot, in pixels.
SIDE, EDGE = 320, 44
#: By dtype as the data name it, what is said of it.
DTYPES = {"f32": "float32", "bf16, storage": "bfloat16"}


def results() -> str:
    """Return a row for each judge."""
    heads = ["judge"]
    for words in DTYPES.values():
        heads += [f">right and rejected, {words}", f">wrong and found, {words}"]
    rows = []
    for one in read("judges"):
        counts = [one[dtype] for dtype in DTYPES]
        figures = [f"{c[k]} of {c[of]}" for c in counts for k, of in (("rejected", "right"), ("found", "wrong"))]
        rows.append((one["judge"], *figures, f"{one['seconds']:g}" if one["seconds"] else "< 0.001"))
    return table((*heads, ">seconds"), rows)


def sources() -> str:
    """Return where each rule comes from."""
    return "\n".join(f"- {one['judge']}: {one['source']}" for one in read("judges"))


def chart() -> str:
    """Return a plot of what each finds over what it rejects, of both dtypes together."""
    dots = "".join(_draw_dot(one) for one in read("judges"))
    last = SIDE - EDGE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIDE + 200} {SIDE}" role="img" '
        f'aria-label="Wrong kernels found over right ones rejected"><path d="M{EDGE} 8V{last}H{SIDE}" fill="none" '
        f'stroke="currentColor"/><g fill="currentColor" font-size="11"><text x="{EDGE}" y="{SIDE - 12}">'
        f'right kernels rejected, 0 to 100 %</text><text transform="translate(14 {last}) rotate(-90)">'
        f"wrong kernels found, 0 to 100 %</text>{dots}</g></svg>"
    )


def _draw_dot(one: dict[str, Any]) -> str:
    counts = [one[dtype] for dtype in DTYPES]
    rejected, right, found, wrong = (sum(c[k] for c in counts) for k in ("rejected", "right", "found", "wrong"))
    x = EDGE + (SIDE - EDGE) * rejected / max(right, 1)
    y = (SIDE - EDGE) - (SIDE - EDGE - 8) * found / max(wrong, 1)
    return f'<circle cx="{x:.0f}" cy="{y:.0f}" r="4"/><text x="{x + 8:.0f}" y="{y + 4:.0f}">{one["judge"]}</text>'
