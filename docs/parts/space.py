"""The space of cases: what is caught without the levels that came with a family, and how many cases it takes."""

from __future__ import annotations

from typing import Any

from parts.tables import read, table

#: Of the chart, in pixels: its sides, the room of words, and of the names beside its lines.
WIDTH, HEIGHT, EDGE, NAMES = 460, 300, 48, 150
#: Where cases come from, by their names in the data.
PARTS = {"rows": "rows by hand", "array": "array", "drawn": "drawn by --for"}
#: Of their lines: lengths of dashes and of the gaps between them.
DASHES = ("", "6 3", "2 3")
#: Whose cases together, in the order of the table.
CAUGHT = {"rows": "rows", "array": "array", "standard": "standard: both", "drawn": "and ten minutes of `--for`"}


def caught() -> str:
    """Return how many bugs and mutants are caught by whose cases."""
    data = read("space")
    rows = ((name, *map(_of, data["caught"][key], data["of"])) for key, name in CAUGHT.items())
    return table(("cases", ">shipped bugs", ">mutants"), rows)


def families() -> str:
    """Return a row for each family: how many of it are caught with its levels and without."""
    heads = ("family", "since", ">bugs, mutants", ">standard", ">without", ">with `--for`", ">without")
    keys = ("of", "standard", "without", "drawn", "drawn_without")
    rows = ((one["family"], one["since"], *(_both(one[key]) for key in keys)) for one in read("space")["families"])
    return table(heads, rows)


def curve() -> str:
    """Return a chart of the share of bugs that so many cases of an operator catch."""
    data = read("space")
    last = data["points"][-1]
    named = zip(PARTS.items(), DASHES, strict=True)
    lines = "".join(_draw_line(name, dashes, data["points"], data["curve"][key]) for (key, name), dashes in named)
    marks = "".join(
        f'<text x="{_place(k, last):.0f}" y="{HEIGHT - EDGE + 16}" text-anchor="middle">{k}</text>'
        for k in data["points"]
    )
    sides = "".join(
        f'<text x="{EDGE - 6}" y="{_height(share):.0f}" text-anchor="end">{share:.0%}</text>' for share in (0, 0.5, 1)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + NAMES} {HEIGHT}" role="img" '
        f'aria-label="Share of shipped bugs caught over cases of an operator"><path d="M{EDGE} 8V{HEIGHT - EDGE}'
        f'H{WIDTH}" fill="none" stroke="currentColor"/><g fill="currentColor" font-size="11">{marks}{sides}{lines}'
        f'<text x="{EDGE}" y="{HEIGHT - 10}">cases of an operator, in any order</text></g></svg>'
    )


def _draw_line(name: str, dashes: str, points: list[int], shares: list[float]) -> str:
    places = [f"{_place(n, points[-1]):.1f} {_height(share):.1f}" for n, share in zip(points, shares, strict=False)]
    x, y = places[-1].split()
    return (
        f'<path d="M{" L".join(places)}" fill="none" stroke="currentColor" stroke-width="2" '
        f'stroke-dasharray="{dashes}"/><text x="{float(x) + 6:.0f}" y="{float(y) + 4:.0f}">{name}</text>'
    )


def _place(count: int, last: int) -> float:
    """Where so many cases stand: each doubling is as wide."""
    return EDGE + (WIDTH - EDGE) * (count.bit_length() - 1) / max(last.bit_length() - 1, 1)


def _height(share: float) -> float:
    return HEIGHT - EDGE - (HEIGHT - EDGE - 8) * share


def _of(count: int, total: int) -> str:
    return f"{count} of {total}"


def _both(counts: list[Any]) -> str:
    """Bugs and mutants; mutants where there are any."""
    bugs, mutants = counts
    return f"{bugs}, {mutants}"
