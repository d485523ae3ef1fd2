"""How operators store their results, where that is not rounding to nearest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from opproof.reports._record import Result
from opproof.reports._text import format_count, format_line, name_backend, short_names_of

#: Roundings of records that are nothing to tell.
_USUAL = ("", "nearest")


@dataclass(frozen=True)
class StoredRounding:
    """An operator of which some results were not rounded to nearest."""

    backend: str
    op: str
    mode: str
    dtype: str
    rounding: str  # truncate or away
    records: int  # that say so
    telling: int  # decisive records


def find_not_nearest(results: Sequence[Result]) -> list[StoredRounding]:
    """One for each operator, mode, dtype and rounding. Errors beyond the bound are told elsewhere, and tell nothing."""
    telling = [r for r in results if r.rounding and _is_within_bound(r)]
    totals = Counter((r.backend, r.op, str(r.mode), r.dtype) for r in telling)
    counts = Counter((r.backend, r.op, str(r.mode), r.dtype, r.rounding) for r in telling if r.rounding not in _USUAL)
    return [StoredRounding(*key, records=n, telling=totals[key[:4]]) for key, n in sorted(counts.items())]


def describe_rounding(results: Sequence[Result], limit: int = 10) -> str:
    """One line, which names the first `limit`; empty where everything is rounded to nearest."""
    stored = find_not_nearest(results)
    if not stored:
        return ""
    names = short_names_of({r.backend for r in results})
    named = [
        f"{name_backend(s.backend, names)}{format_line(s.op)} {s.mode} {format_line(s.dtype)}"
        f" ({format_line(s.rounding)} in {s.records:,} of {format_count(s.telling, 'record')})"
        for s in stored[:limit]
    ]
    more = [f"and {len(stored) - limit:,} more"] if len(stored) > limit else []
    return f"not rounded to nearest: {'; '.join([*named, *more])}"


def _is_within_bound(result: Result) -> bool:
    """Whether every element is within its bound."""
    numbers = isinstance(result.units, int | float) and result.limit is not None
    return numbers and float(result.units or 0) <= float(result.limit or 0)
