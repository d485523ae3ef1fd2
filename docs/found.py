"""Writes what leads each page of docs/reference/backends/: what was found, by cause, of ledgers and reproductions.

python docs/found.py            writes it
python docs/found.py --check    exit status 1 where a page differs
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))
import upstream  # noqa: E402 - beside this script, wherever it is run from

BEGIN, END = "<!-- found: by docs/found.py -->", "<!-- /found -->"
#: How many operators of a cause are named.
_OPERATORS = 12


@dataclass(frozen=True)
class Entry:
    """An operator in one mode and dtype of an entry of the list."""

    op: str
    mode: str
    dtype: str
    verdict: str
    size: str


def entries(rows: Iterable[dict[str, Any]]) -> list[Entry]:
    """Of the rows of a list; a dtype is "" where the row, or its pattern, names none."""
    return [
        Entry(op, mode, dtype, _verdict(row), _size(row)) for row in rows for op, mode, dtype in upstream.meant(row)
    ]


def _size(row: dict[str, Any]) -> str:
    """What is executed, or how far off: units of honest rounding, or NaN, or a share of the elements."""
    if "operators" in row and "verdict" not in row and "verdicts" not in row:
        formula = "another formula" if {"forward", "vjp"} & row.keys() else ""
        arithmetic = f"{row['arithmetic']} arithmetic" if "arithmetic" in row else ""
        return ", in ".join(filter(None, (formula, arithmetic))) or "undefined elements"
    if row.get("nonfinite"):
        return "not finite"
    if "units" in row:
        return f"{row['units']:,} units" if row["units"] < 1e6 else "a million units and more"
    return f"{row['share']:.0%} of the elements" if "share" in row else _verdict(row).replace("_", " ").lower()


def _verdict(row: Mapping[str, Any]) -> str:
    """The first of an entry's verdicts."""
    return str(row.get("verdict") or row.get("verdicts", ["WRONG"])[0])


def cause(library: str, r: upstream.Reproduction, found: Sequence[Entry]) -> str:
    """The row of a reproduction: its operators, their dtypes, the size of what their entries hold."""
    mine = [e for e in found if (e.op, e.mode) in set(r.ledger)]
    operators = list(dict.fromkeys(f"`{op}`" + " gradient" * (mode == "gradient") for op, mode in r.ledger))
    more = f" and {len(operators) - _OPERATORS} more" if len(operators) > _OPERATORS else ""
    dtypes = [d for d in upstream.DTYPES if any(e.dtype in {d, ""} for e in mine)]
    sizes = list(dict.fromkeys(e.size for e in sorted(mine, key=_rank)))
    link = f"[{_plain(r.title)}](../../upstream/{library}.md#{r.name})"
    known = f"[{_number(r.upstream)}]({r.upstream})" if r.upstream else ""
    return _cells((link, ", ".join(operators[:_OPERATORS]) + more, " ".join(dtypes), "; ".join(sizes[:2]), known))


def _rank(entry: Entry) -> tuple[bool, float]:
    """What breaks before what is wrong, large before small."""
    number = re.match(r"[\d,]+", entry.size)
    wrong = entry.verdict.startswith("WRONG") and "million" not in entry.size and entry.size != "not finite"
    return wrong, -float(number[0].replace(",", "")) if number else 0.0


def _plain(title: str) -> str:
    return title.replace("[", "\\[").replace("]", "\\]")


def _number(address: str) -> str:
    """owner/name#number of an issue or a pull request, else where the address is."""
    match = re.match(r"https://github\.com/[^/]+/([^/]+)/(?:issues|pull)/(\d+)", address)
    return f"{match[1]}#{match[2]}" if match else re.sub(r"https://([^/]+)/.*", r"\1", address)


def _cells(cells: Iterable[str]) -> str:
    return "| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |"


def part(library: str) -> str:
    """What stands between the marks of a library's page."""
    with (upstream.LEDGERS / library / "known.toml").open("rb") as file:
        rows = next(value for value in tomllib.load(file).values() if isinstance(value, list))
    # What only OpInfo shows is in no ledger, and no known failure.
    found, causes = entries(rows), [r for r in upstream.reproductions(library) if r.ledger]
    operators = len({e.op for e in found})
    name = upstream.LIBRARIES[library][0]
    head = [
        f"{name} has known failures in {operators} operators, from {len(causes)} causes. Each line leads to a",
        "short program that shows it without opproof. Dtypes, and what the list of known failures executes, are of all",
        "entries of its operators, all dtypes where it names none; the last column is a report, where one was found.",
    ]
    table = ["| cause | operators | dtypes | executed, or size | reported |", "| --- | --- | --- | --- | --- |"]
    body = [*table, *(cause(library, r, found) for r in causes)]
    return "\n".join([BEGIN, "", "## What was found", "", *head, "", *body, *_differences(library), "", END])


def _differences(library: str) -> list[str]:
    rows = sorted(upstream.DIFFERENCES.get(library, {}).items())
    told = "; ".join(f"`{op}`, {why}" for (op, _), why in rows)
    return ["", f"In the ledger without being a defect of {upstream.LIBRARIES[library][0]}: {told}."] if rows else []


def page(library: str, text: str) -> str:
    """The page with its part as it is now. Raises ValueError where it has no marks."""
    if BEGIN not in text or END not in text:
        raise ValueError(f"docs/reference/backends/{library}.md has no {BEGIN} and {END}: put them below its title.")
    before, rest = text.split(BEGIN, 1)
    return before + part(library) + rest.split(END, 1)[1]


def main(check: bool) -> int:
    """The exit status."""
    stale = []
    for library in upstream.LIBRARIES:
        path = DOCS / "reference" / "backends" / f"{library}.md"
        text = path.read_text(encoding="utf-8")
        now = page(library, text)
        if check and now != text:
            stale.append(library)
        if not check:
            path.write_text(now, encoding="utf-8")
    for library in stale:
        print(f"docs/reference/backends/{library}.md is out of date: run `python docs/found.py`.")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
