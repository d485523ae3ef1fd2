"""Tolerances as others publish them: which right kernels each may reject, and which wrong ones pass under it."""

from __future__ import annotations

from parts.tables import read, table

#: By the name in the table, what nobody sees who compares numbers with a tolerance, and which is said in the text.
UNSEEN = "digits cut off, not rounded"


def published() -> str:
    """Return a row for each tolerance and dtype."""
    heads = ("tolerance", "dtype", "allowed", "may reject right kernels of", "wrong, and passes")
    rows, told = [], read("tolerances")
    most = max(len(one["operators"]) for one in told)
    for one in told:
        count = len(one["operators"])
        rejected = (f"{op} (at {part:.2%})" for op, part in one["rejected"].items())
        passing = (n if k == count else f"{n} ({k} of {count})" for n, k in one["passing"].items() if n != UNSEEN)
        whose = f"{one['tolerance']}: {', '.join(one['operators'])}" if count < most else one["tolerance"]
        rows.append((whose, one["dtype"], one["limit"], "; ".join(rejected), "; ".join(passing)))
    return table(heads, rows)
