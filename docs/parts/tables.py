"""Tables of Markdown, and the summaries of which they are built."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parent.parent / "data"


def read(name: str) -> Any:
    """Return the summary `name`. Raises ValueError that names the file where it is no JSON."""
    path = DATA / f"{name}.json"
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"docs/data/{path.name} is no JSON: {error}.") from error


def table(heads: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table. A head that begins with > is of a column of figures."""
    marks = (" ---: " if head.startswith(">") else " --- " for head in heads)
    return "\n".join([row(head.removeprefix(">") for head in heads), f"|{'|'.join(marks)}|", *map(row, rows)])


def row(cells: Iterable[object]) -> str:
    """Return a row: integers with commas, bars escaped."""
    return "| " + " | ".join(_shown(cell).replace("\\|", "|").replace("|", "\\|") for cell in cells) + " |"


def listed(rows: Sequence[dict[str, object]]) -> str:
    """Return a table of entries that have the columns' names; a column with numbers is one of figures."""
    heads = list(rows[0])
    figures = {head for head in heads if any(isinstance(one[head], int) for one in rows)}
    return table([f">{head}" if head in figures else head for head in heads], (one.values() for one in rows))


def _shown(cell: object) -> str:
    if isinstance(cell, list):
        return ", ".join(map(str, cell))
    return f"{cell:,}" if isinstance(cell, int) else str(cell)
