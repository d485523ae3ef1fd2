"""Which names of other libraries' lists our operators compute: a section of docs/operators.md.

Of ONNX's nodes those count too that docs/reference/onnx.md has, some of which take several operators.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from opproof.reference_ops import Op
from opproof.reference_ops._elsewhere import NameList, read_lists

ONNX_PAGE = Path(__file__).parent / "reference" / "onnx.md"


def section(ops: Iterable[Op]) -> list[str]:
    """Lines of docs/operators.md: how many names of each list are covered, and which are not."""
    lists = [(found, _missing(found)) for found in read_lists(ops)]
    lines = [
        "## Names of other libraries",
        "",
        "A name is covered where an operator above computes it, some perhaps only with certain attributes; a name of a",
        "gradient where the gradient of one is judged. The lists lie in [reference_ops/lists](../reference_ops/lists),",
        "and `opproof list ops --json` tells by operator which names it covers.",
        "",
        "| list | names | covered | read from |",
        "| --- | ---: | ---: | --- |",
    ]
    lines += [f"| {n.title} | {len(n.names)} | {len(n.names) - len(m)} | {n.source} |" for n, m in lists]
    for n, m in lists:
        lines += ["", f"Missing of {n.title}: {', '.join(m)}."]
    return lines


def _missing(found: NameList) -> list[str]:
    expressed = _expressed() if found.title == "ONNX" else set()
    return [name for name in found.missing if name not in expressed]


def _expressed() -> set[str]:
    """The nodes of which docs/reference/onnx.md says that cases agree."""
    page = ONNX_PAGE.read_text(encoding="utf-8").partition("## What agrees")[2].partition("\n## ")[0]
    return set(re.findall(r"^\| (\w+) \| `", page, re.MULTILINE))
