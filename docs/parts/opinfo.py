"""PyTorch's own samples on the NumPy references: counts, disagreements, what is not expressed."""

from __future__ import annotations

from typing import Any

from parts.tables import read, table

#: Who is right in a disagreement: we where PyTorch errs, either by its definition, either within rounding.
SIDES = ("ours", "convention", "rounding")
#: Entries of OpInfo that a row names; of more it says how many.
MAX_NAMED_ENTRIES = 4
#: Reasons that are told one by one.
MAX_REASONS = 24


def summary() -> str:
    """Return the counts."""
    return table(("", ">"), read("opinfo")["counts"].items())


def disagreements(side: str) -> str:
    """Return the rows of one side: `ours` where PyTorch errs, `convention`, or `rounding`."""
    rows = [one for one in read("opinfo")["rows"] if one["side"] == side]
    return table(("entries", "where", "why"), ((_name_entries(one), one["where"], _explain(one)) for one in rows))


def left() -> str:
    """Return why readings are not expressed, the most frequent reasons first."""
    reasons = list(read("opinfo")["not expressed"].items())
    rest = reasons[MAX_REASONS:]
    others = [(f"{len(rest)} other reasons", sum(n for _, n in rest))] if rest else []
    return table(("why", ">readings"), [*reasons[:MAX_REASONS], *others])


def _name_entries(row: dict[str, Any]) -> str:
    entries = row["entries"]
    more = len(entries) - MAX_NAMED_ENTRIES
    return ", ".join(f"`{e}`" for e in entries[:MAX_NAMED_ENTRIES]) + (f" and {more} more" if more > 0 else "")


def _explain(row: dict[str, Any]) -> str:
    if row.get("program"):
        return f"{row['why']} [Program](../reference/defects/torch.md#{row['program']})."
    return f"{row['why']} [Reported]({row['link']})." if row.get("link") else row["why"]
