"""Counts what came of every entry, into counts.json, and writes docs/data/opinfo.json of that and of the rows.

python tests/opinfo/_page.py            # minutes, on all cores
python tests/opinfo/_page.py --summary  # the summary alone, of the counts that are there
"""

from __future__ import annotations

import functools
import json
import multiprocessing
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _oracle import AGREES, BY_A_CONVENTION, BY_THE_LARGEST, DISAGREES, NOT_EXPRESSED, RAISES, Outcome

from opproof.core.text import dump_json

if TYPE_CHECKING:
    from _rows import Row

FILE = Path(__file__).parent / "counts.json"
SUMMARY = Path(__file__).parents[2] / "docs" / "data" / "opinfo.json"
KINDS = (AGREES, BY_THE_LARGEST, BY_A_CONVENTION, DISAGREES, RAISES, NOT_EXPRESSED)


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


def summarize() -> dict[str, Any]:
    """The counts of all entries, the rows of disagreements, and why readings are not expressed."""
    from _rows import rows

    every = counts().values()
    kinds: Counter[str] = sum((Counter(c["kinds"]) for c in every), start=Counter())
    reasons: Counter[str] = sum((Counter(c["reasons"]) for c in every), start=Counter())
    return {
        "counts": {
            "entries of OpInfo": len(counts()),
            "operators of ours": len({o for c in every for o in c["operators"]}),
            "samples": sum(c["samples"] for c in every),
            "of these expressed": sum(c["expressed"] for c in every),
            "readings": kinds.total(),
            **{kind: kinds[kind] for kind in KINDS},
        },
        "rows": [_summarize_row(row) for row in rows()],
        "not expressed": dict(reasons.most_common()),
    }


def _summarize_row(row: Row) -> dict[str, Any]:
    links = {"program": row.shown, "link": row.link}
    where = row.part or (f"raises {row.raises!r}" if row.raises else "all")
    found = {"side": row.right, "entries": [*row.entries], "where": where, "why": row.why}
    return {**found, **{key: link for key, link in links.items() if link}}


if __name__ == "__main__":
    told = [] if "--summary" in sys.argv else count()
    SUMMARY.write_text(dump_json(summarize()), encoding="utf-8")
    print("\n".join(told) or "no difference without a row")
    sys.exit(bool(told))
