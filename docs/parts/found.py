"""What was found in each library, by cause, of its known failures and reproductions."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from parts import defects
from parts.tables import table

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
    """Return the entries of a list's rows; a dtype is "" where the row, or its pattern, names none."""
    return [Entry(op, mode, dtype, _verdict(row), _size(row)) for row in rows for op, mode, dtype in defects.meant(row)]


def _size(row: dict[str, Any]) -> str:
    """Say what is executed, or how far off: units of honest rounding, or NaN, or a share of the elements."""
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
    """Return the first of an entry's verdicts."""
    return str(row.get("verdict") or row.get("verdicts", ["WRONG"])[0])


def cause(library: str, r: defects.Reproduction, found: Sequence[Entry]) -> tuple[str, ...]:
    """Return the row of a reproduction: its operators, their dtypes, the size of what their entries hold."""
    mine = [e for e in found if (e.op, e.mode) in set(r.ledger)]
    operators = list(dict.fromkeys(f"`{op}`" + " gradient" * (mode == "gradient") for op, mode in r.ledger))
    more = f" and {len(operators) - _OPERATORS} more" if len(operators) > _OPERATORS else ""
    dtypes = [d for d in defects.DTYPES if any(e.dtype in {d, ""} for e in mine)]
    sizes = list(dict.fromkeys(e.size for e in sorted(mine, key=_rank)))
    link = f"[{_plain(r.title)}](../defects/{library}.md#{r.name})"
    known = f"[{_number(r.upstream)}]({r.upstream})" if r.upstream else ""
    return link, ", ".join(operators[:_OPERATORS]) + more, " ".join(dtypes), "; ".join(sizes[:2]), known


def _rank(entry: Entry) -> tuple[bool, float]:
    """Rank what breaks before what is wrong, large before small."""
    number = re.match(r"[\d,]+", entry.size)
    wrong = entry.verdict.startswith("WRONG") and "million" not in entry.size and entry.size != "not finite"
    return wrong, -float(number[0].replace(",", "")) if number else 0.0


def _plain(title: str) -> str:
    return title.replace("[", "\\[").replace("]", "\\]")


def _number(address: str) -> str:
    """Return owner/name#number of an issue or a pull request, else where the address is."""
    match = re.match(r"https://github\.com/[^/]+/([^/]+)/(?:issues|pull)/(\d+)", address)
    return f"{match[1]}#{match[2]}" if match else re.sub(r"https://([^/]+)/.*", r"\1", address)


def part(library: str) -> str:
    """Return what was found in a library."""
    with (defects.LEDGERS / library / "known.toml").open("rb") as file:
        rows = next(value for value in tomllib.load(file).values() if isinstance(value, list))
    # What only OpInfo shows is no known failure.
    found, causes = entries(rows), [r for r in defects.reproductions(library) if r.ledger]
    operators = len({e.op for e in found})
    name = defects.LIBRARIES[library][0]
    head = (
        f"{name} has known failures in {operators} operators, from {len(causes)} causes. Each line leads to a short "
        "program that shows it without opproof. Dtypes, and what the list of known failures executes, are of all "
        "entries of its operators, all dtypes where it names none. The last column is a report, where one was found."
    )
    heads = ("cause", "operators", "dtypes", "executed, or size", "reported")
    return "\n\n".join([head, table(heads, (cause(library, r, found) for r in causes)), *_differences(library)])


def _differences(library: str) -> list[str]:
    rows = sorted(defects.DIFFERENCES.get(library, {}).items())
    told = "; ".join(f"`{op}`, {why}" for (op, _), why in rows)
    return [f"A known failure without being a defect of {defects.LIBRARIES[library][0]}: {told}."] if rows else []
