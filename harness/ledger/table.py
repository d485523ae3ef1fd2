"""The checks of a ledger as text."""

from __future__ import annotations

from collections.abc import Sequence

from opproof.harness.ledger.check import Check
from opproof.harness.ledger.limits import seen
from opproof.reports._text import line, number, plural

_HEAD = ("entry", "covered", "failed", "passed", "largest units", "units allowed")


def table(checks: Sequence[Check]) -> str:
    """A row for each entry: how many records it covers, fail, pass, and the largest error beside its limit."""
    from tabulate import tabulate

    rows = [_row(c) for c in checks]
    return str(tabulate(rows, _HEAD, disable_numparse=True, colalign=("left", *["right"] * 5)))


def summary(checks: Sequence[Check], seeds: int) -> str:
    """The last line."""
    objections = sum(len(c.objections) for c in checks)
    entries = "1 entry" if len(checks) == 1 else f"{len(checks):,} entries"
    records = plural(sum(len(c.finding.covered) for c in checks), "record")
    return f"{entries}, {records} over {plural(seeds, 'seed')}: {plural(objections, 'objection')}"


def _row(c: Check) -> tuple[str, ...]:
    f = c.finding
    more = len(f.entry.globs) - 1
    limit = ", ".join(f.entry.failures) if f.entry.is_fault else number(f.entry.units, 3)
    what = f"{', '.join(f.entry.operators)} ({f.entry.cause})" if f.entry.operators else line(f.entry.globs[0])
    counts = (f"{len(some):,}" for some in (f.covered, f.failing, f.passing))
    return what + (f" and {more} more" if more > 0 else ""), *counts, number(seen(c.own).units, 3), limit
