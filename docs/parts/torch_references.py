"""The error scale of PyTorch's dispatch beside that of the NumPy references."""

from __future__ import annotations

from typing import Any

from parts.tables import read, table

#: What the bar says of the ratio: its median is within the first, 99 % of the elements within the second, either way.
MEDIAN, MOST = 1.5, 4.0


def is_within(row: dict[str, Any]) -> bool:
    """Whether the bar is met."""
    return "note" not in row


def summary() -> str:
    """Return how many rows meet the bar."""
    rows = read("torch-references")
    return (
        f"Within the bar (median within {MEDIAN:g}, 99 % within {MOST:g}): {sum(map(is_within, rows))} of {len(rows)}."
    )


def ratios() -> str:
    """Return the ratio's quantiles by operator and mode."""
    rows = (
        (
            r["operator"],
            r["mode"],
            r["cases"],
            *(f"{r[key]:.2f}" for key in ("median", "low", "high")),
            r.get("note", ""),
        )
        for r in read("torch-references")
    )
    return table(("operator", "mode", ">cases", ">median", ">1 %", ">99 %", "what differs"), rows)
