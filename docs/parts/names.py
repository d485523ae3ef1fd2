"""Which names of other libraries' lists our operators compute.

Of ONNX's nodes those count too that docs/reference/onnx.md has, some of which take several operators.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from opproof.reference_ops import load, names
from opproof.reference_ops._elsewhere import NameList, read_lists
from parts.tables import table

ONNX_PAGE = Path(__file__).resolve().parent.parent / "reference" / "onnx.md"


def covered() -> str:
    """Return how many names of each list are covered."""
    rows = ((n.title, len(n.names), len(n.names) - len(_missing(n)), n.source) for n in _lists())
    return table(("list", ">names", ">covered", "read from"), rows)


def missing() -> str:
    """Return the names that are not, a paragraph for each list."""
    return "\n\n".join(f"Missing of {n.title}: {', '.join(_missing(n))}." for n in _lists())


@cache
def _lists() -> tuple[NameList, ...]:
    return tuple(read_lists(map(load, names())))


def _missing(found: NameList) -> list[str]:
    expressed = _expressed() if found.title == "ONNX" else set()
    return [name for name in found.missing if name not in expressed]


def _expressed() -> set[str]:
    """Return the nodes of which docs/reference/onnx.md says that cases agree."""
    page = ONNX_PAGE.read_text(encoding="utf-8").partition("## What agrees")[2].partition("\n## ")[0]
    return set(re.findall(r"^\| (\w+) \| `", page, re.MULTILINE))
