"""Which inputs were worst, by sign and binade, of a run that tried every number, or every pair of numbers.

Chunks are of one sign and one binade each, so that a record's worst element is the worst of that stretch.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from opproof.core.verdicts import FAILED
from opproof.reports._record import Result
from opproof.reports._text import format_count

#: The file with the worst input of every range, of runs of level exhaustive.
RANGES = "ranges.csv"
#: Ranges that the summary names, the worst ones.
SHOWN = 12


@dataclass(frozen=True)
class Range:
    """Of the numbers of one sign and binade the one with the largest error."""

    op: str
    backend: str
    mode: str
    dtype: str
    low: float  # the number of the range that is nearest to zero; infinity where it holds infinities and NaN
    parts: int  # chunks of it that were tried
    of: int  # chunks that it has
    units: float
    x: tuple[float, ...]  # the input, or the pair of inputs
    failed: bool


#: Of the id of a chunk what tells its range from others, how many chunks that has, and its number nearest to zero; None
#: of another case.
RangeOf = Callable[[str], tuple[str, int, float] | None]


def rank_ranges(
    results: Iterable[Result], range_of: RangeOf, find_inputs: Callable[[Result], Sequence[float]]
) -> list[Range]:
    """The worst input of every range that records of chunks tell of, the worst range first.

    `find_inputs` draws the inputs at the worst element of a record again. Of pairs a range is one of the first number.
    """
    worst: dict[tuple[str, ...], tuple[Result, int, int, float]] = {}
    for result in results:
        found = range_of(result.case)
        if found is None or result.units is None:
            continue
        name, of, low = found
        key = (name, result.backend, result.mode)
        before, tried, *_ = worst.get(key, (result, 0, 0, 0.0))
        farther = result if _error_size_of(result) > _error_size_of(before) else before
        worst[key] = (farther, tried + 1, of, low)
    ranges = [_make_range(result, tried, of, low, find_inputs) for result, tried, of, low in worst.values()]
    return sorted(ranges, key=lambda r: (not r.failed, -r.units))


def _make_range(
    result: Result, tried: int, of: int, low: float, find_inputs: Callable[[Result], Sequence[float]]
) -> Range:
    x = (math.nan,) if result.worst is None else tuple(find_inputs(result))
    failed, units = _error_size_of(result)
    return Range(result.op, result.backend, result.mode, result.dtype, low, tried, of, units, x, failed)


def render_lines(found: Sequence[Range]) -> list[str]:
    """The worst ranges in words, one a line; none where no chunk was tried."""
    if not found:
        return []
    shown = [r for r in found[:SHOWN] if r.units > 0]
    head = f"worst inputs by sign and binade, the worst {len(shown)} of {len(found)} ranges:"
    return [head, *(f"  {_render_line(r)}" for r in shown)] if shown else ["no input of any range has an error"]


def render_table(found: Sequence[Range]) -> str:
    """All ranges as comma-separated values."""
    rows = ["op,backend,mode,dtype,from,chunks,of,largest_units,input,failed"]
    rows += [
        f"{r.op},{r.backend},{r.mode},{r.dtype},{r.low!r},{r.parts},{r.of},{r.units!r},"
        f"{' '.join(map(repr, r.x))},{str(r.failed).lower()}"
        for r in found
    ]
    return "\n".join(rows) + "\n"


def _render_line(r: Range) -> str:
    where = f"{r.low:.6g} and beyond" if math.isfinite(r.low) else "infinity and NaN"
    failed = "FAILS" if r.failed else "passes"
    at = f"x = {r.x[0]!r}" if len(r.x) == 1 else f"({', '.join(map(repr, r.x))})"
    return f"{r.op} {r.mode} {r.dtype} {r.backend}, {where}: {r.units:.3g} units at {at}, {failed}"


def _error_size_of(result: Result) -> tuple[bool, float]:
    return result.verdict in FAILED, float(result.units) if result.units is not None else 0.0


def describe_estimate(counts: Sequence[tuple[str, int, int, float]], jobs: int) -> str:
    """What a run of every number has before it.

    Of each kind of chunk: what it holds, how many of them, the number of chunks, and seconds of one.
    """
    held = Counter[str]()
    for what, size, count, _ in counts:
        held[what] += size * count
    hours = sum(count * seconds for *_, count, seconds in counts) / 3600
    tried = " and ".join(f"{n:,} {what}" for what, n in held.items())
    records = format_count(sum(count for *_, count, _ in counts), "record")
    at_once = f"{hours / jobs:.2g} hours with {format_count(jobs, 'job')}; the backend's own time comes to it"
    return f"{records}, {tried}: {hours:.2g} CPU hours of judging as measured here, {at_once}"
