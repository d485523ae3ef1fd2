"""Which inputs were worst, by sign and binade, of a run that tried every number, or every pair of numbers.

Chunks are of one sign and one binade each, so that a record's worst element is the worst of that stretch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from opproof.cases import Case
from opproof.cases._fills.exhaustive import EVERY, PAIRS, draw_every, is_pairs, is_part, part_of, width_of
from opproof.core.dtypes import DTYPES
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


def rank_ranges(results: Iterable[Result], find_inputs: Callable[[Result], Sequence[float]]) -> list[Range]:
    """The worst input of every range that records of chunks tell of, the worst range first.

    `find_inputs` draws the inputs at the worst element of a record again. Of pairs a range is one of the first number.
    """
    worst: dict[tuple[str, ...], tuple[Result, int, int]] = {}
    for result in results:
        if f"fill={EVERY}:" not in result.case and f"fill={PAIRS}:" not in result.case:  # sooner told than read
            continue
        case = Case.parse(result.case)
        if not is_part(case.fill) or result.units is None:
            continue
        part, parts = part_of(case.fill)
        each = 2 ** width_of(DTYPES[case.dtype]) // parts  # numbers of a chunk
        number = (part - 1) * each // 2 ** (DTYPES[case.dtype].digits - 1)
        unpart = str(replace(case, fill=case.fill.partition(":")[0]))
        key = (unpart, result.backend, result.mode, str(number))
        before, tried, _ = worst.get(key, (result, 0, 0))
        farther = result if _error_size_of(result) > _error_size_of(before) else before
        worst[key] = (farther, tried + 1, max(1, 2 ** (DTYPES[case.dtype].digits - 1) // each))
    found = [_range_of(result, tried, of, find_inputs) for result, tried, of in worst.values()]
    return sorted(found, key=lambda r: (not r.failed, -r.units))


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


def _range_of(result: Result, tried: int, of: int, find_inputs: Callable[[Result], Sequence[float]]) -> Range:
    case = Case.parse(result.case)
    x = (math.nan,) if result.worst is None else tuple(find_inputs(result))
    failed, units = _error_size_of(result)
    return Range(result.op, result.backend, result.mode, case.dtype, _low_of(case), tried, of, units, x, failed)


def _low_of(case: Case) -> float:
    """The smallest number of the chunk's range: that of the range's first chunk."""
    dtype = DTYPES[case.dtype]
    part, parts = part_of(case.fill)
    each = 2 ** width_of(dtype) // parts
    first = (part - 1) * each // 2 ** (dtype.digits - 1) * 2 ** (dtype.digits - 1) // each
    return float(draw_every(f"{EVERY}:{first + 1}/{parts}", (each,), dtype)[0])


def describe_estimate(counts: Sequence[tuple[Case, int, float]], jobs: int) -> str:
    """What a run of every number has before it: of each kind of chunk one, how many there are and seconds of one."""
    chunks = sum(count for _, count, _ in counts)
    pairs = sum(_numbers_of(case) * count for case, count, _ in counts if is_pairs(case.fill))
    numbers = sum(_numbers_of(case) * count for case, count, _ in counts if not is_pairs(case.fill))
    hours = sum(count * seconds for _, count, seconds in counts) / 3600
    tried = [f"{n:,} {what}" for n, what in ((numbers, "numbers"), (pairs, "pairs of numbers")) if n]
    here = f"{hours:.2g} CPU hours of judging as measured here"
    at_once = f"{hours / jobs:.2g} hours with {format_count(jobs, 'job')}; the backend's own time comes to it"
    return f"{format_count(chunks, 'record')}, {' and '.join(tried)}: {here}, {at_once}"


def _numbers_of(case: Case) -> int:
    """How many elements a chunk has."""
    return max(math.prod(shape) for shape in case.shapes.values())
