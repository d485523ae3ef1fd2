"""Counts what came of every entry, into counts.json, and writes docs/explanation/opinfo.md of that and of the rows.

python tests/opinfo/_page.py            # minutes, on all cores
python tests/opinfo/_page.py --page     # the page alone, of the counts that are there
"""

from __future__ import annotations

import functools
import json
import multiprocessing
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from _oracle import AGREES, BY_A_CONVENTION, BY_THE_LARGEST, DISAGREES, NOT_EXPRESSED, RAISES, TOLERANCE, Outcome

FILE = Path(__file__).parent / "counts.json"
PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "opinfo.md"
KINDS = (AGREES, BY_THE_LARGEST, BY_A_CONVENTION, DISAGREES, RAISES, NOT_EXPRESSED)
SIDES = {
    "ours": "PyTorch errs",
    "convention": "Other definitions",
    "rounding": "Rounding",
}


def summary(found: Iterable[Outcome]) -> dict[str, Any]:
    """Of one entry: its samples, what came of each reading by kind and operator, and why some are not expressed."""
    found = [*found]
    told = Counter(o.said for o in found if o.kind == NOT_EXPRESSED)
    return {
        "samples": len({(o.dtype, o.index) for o in found}),
        "expressed": len({(o.dtype, o.index) for o in found if o.kind != NOT_EXPRESSED}),
        "operators": sorted({o.operator for o in found if o.operator}),
        "kinds": dict(sorted(Counter(o.kind for o in found).items())),
        "reasons": dict(sorted(told.items())),
    }


@functools.cache
def counts() -> Mapping[str, Any]:
    """What counts.json says, by entry."""
    read: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return read


def _counted(entry: str) -> tuple[str, dict[str, Any], list[str]]:
    import torch
    from _oracle import outcomes
    from _rows import idle, uncovered
    from _table import TABLE

    torch.set_num_threads(1)
    found = list(outcomes(entry, TABLE[entry]))
    return entry, summary(found), [*uncovered(found), *idle(entry, found)]


def count() -> list[str]:
    """Write counts.json; what no row covers, and rows that cover nothing."""
    from _table import TABLE

    with multiprocessing.get_context("spawn").Pool() as pool:
        done = sorted(pool.imap_unordered(_counted, sorted(TABLE), chunksize=1))
    FILE.write_text(json.dumps({e: s for e, s, _ in done}, indent=1) + "\n", encoding="utf-8")
    counts.cache_clear()
    return [line for _, _, said in done for line in said]


def page() -> str:
    """docs/explanation/opinfo.md, of the counts and the rows."""
    from _rows import rows

    every = counts().values()
    kinds: Counter[str] = sum((Counter(c["kinds"]) for c in every), start=Counter())
    operators = {o for c in every for o in c["operators"]}
    reasons: Counter[str] = sum((Counter(c["reasons"]) for c in every), start=Counter())
    lines = [
        "# A third oracle: PyTorch's own samples",
        "",
        "Written by `tests/opinfo/_page.py`; do not edit.",
        "",
        "PyTorch tests its operators on samples that it calls OpInfo: `op_db`, of torch 2.13.0. `tox -e opinfo` puts",
        "them through our NumPy references, values and gradients, in float64 and in integers, and compares with",
        "what PyTorch computes. The samples are drawn anew each time, from the same seed. It takes a",
        "minute of one core.",
        "",
        "`tests/opinfo/_table.py` says which entry is which operator of ours, files beside it how its arguments are.",
        "A sample may be read as several operators: an activation also as a gated one, a value also as a gradient.",
        "",
        "| | |",
        "| --- | ---: |",
        f"| entries of OpInfo | {len(counts())} |",
        f"| operators of ours | {len(operators)} |",
        f"| samples | {sum(c['samples'] for c in every):,} |",
        f"| of these expressed | {sum(c['expressed'] for c in every):,} |",
        f"| readings | {kinds.total():,} |",
        *(f"| {kind} | {kinds[kind]:,} |" for kind in KINDS),
        "",
        f'An element agrees within {TOLERANCE:g} of its own size, NaN and infinities exactly. "By the largest',
        "element\" is within that of the array's largest. A convention is one that the operator's file yields.",
        "",
        "## Disagreements",
        "",
        "Every one has a row in `tests/opinfo/rows.toml`, which names its entries and what holds of the elements that",
        "differ. The run fails on a difference that no row covers, and on a row that covers nothing.",
    ]
    for side, title in SIDES.items():
        lines += ["", f"### {title}", "", "| entries | where | why |", "| --- | --- | --- |"]
        for row in rows():
            if row.right == side:
                names = ", ".join(f"`{e}`" for e in row.entries[:4]) + (
                    f" and {len(row.entries) - 4} more" if len(row.entries) > 4 else ""
                )
                shown = (
                    f" [Program](../reference/defects/torch.md#{row.shown})."
                    if row.shown
                    else f" [Reported]({row.link})."
                    if row.link
                    else ""
                )
                part = row.part or (f"raises {row.raises!r}" if row.raises else "all")
                lines.append(f"| {names} | {part} | {row.why}{shown} |")
    most = reasons.most_common(MOST_REASONS)
    rest = sum(reasons.values()) - sum(n for _, n in most)
    lines += ["", "## Not expressed", "", "| why | readings |", "| --- | ---: |"]
    lines += [f"| {why} | {n:,} |" for why, n in most]
    lines += [f"| {len(reasons) - len(most)} other reasons | {rest:,} |"]
    return "\n".join(lines) + "\n"


MOST_REASONS = 24  # told one by one on the page

if __name__ == "__main__":
    told = [] if "--page" in sys.argv else count()
    PAGE.write_text(page(), encoding="utf-8")
    print("\n".join(told) or "no difference without a row")
    sys.exit(bool(told))
