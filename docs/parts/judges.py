"""Judges side by side: of kernels what each rejects and finds, and of mistakes in ggml's source what two judges say."""

from __future__ import annotations

from typing import Any

from parts.tables import read, table

#: Of the plot, in pixels.
SIDE, EDGE = 320, 44
#: Judges of mistakes in ggml's source, by their names in the data.
PLANTED = {"theirs": "test-backend-ops", "ours": "opproof"}
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


def planted_counts() -> str:
    """Return how many mistakes in ggml's source each of two judges finds, and what it takes."""
    rows = _read_planted()
    lines = []
    for key, name in PLANTED.items():
        seconds = sorted(row[key]["seconds"] for row in rows)
        other = next(k for k in PLANTED if k != key)
        found = [row for row in rows if row[key]["failing"]]
        alone = sum(not row[other]["failing"] for row in found)
        middle, most = seconds[len(seconds) // 2], seconds[-1]
        lines.append((name, f"{len(found)} of {len(rows)}", alone, f"{middle:g}", f"{most:g}"))
    return table(("judge", ">found", ">that the other misses", ">seconds, median", ">seconds, most"), lines)


def planted() -> str:
    """Return a row for each mistake in ggml's source."""
    shown = []
    for row in _read_planted():
        said = [f"{'found' if row[key]['failing'] else 'missed'}, {row[key]['seconds']:g} s" for key in PLANTED]
        if row.get("since", {}).get("failing"):
            said[1] += "; found since"
        words = row["ours"]["said"].partition(": ")[2]
        shown.append((row["functions"].replace(",", ", "), row["kind"], row["what"], *said, words))
    return table(("functions", "kind", "mistake", *PLANTED.values(), "opproof says"), shown)


def _read_planted() -> list[dict[str, Any]]:
    """The mistakes in order, without the row in which there is none."""
    found = {int(number): row for number, row in read("judges-ggml")["mistakes"].items()}
    return [found[number] for number in sorted(found) if number]
