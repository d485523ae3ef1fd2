"""Level exhaustive: every number of a dtype, in chunks that are cases of their own; which inputs were worst, by range.

A chunk holds numbers of one sign and one binade, so that its record's worst element is the worst of that stretch.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from opproof.cases import Case, cases_of
from opproof.cases._fills.exhaustive import EVERY, draw_every, is_part, part_of, width_of
from opproof.core.dtypes import DTYPES
from opproof.core.errors import UsageError
from opproof.core.verdicts import FAILED, Mode
from opproof.harness.reference.question import make_question
from opproof.harness.reference.valid_case import op_of
from opproof.reference_ops import Op
from opproof.reports import Result

#: Numbers in a chunk, where a binade has so many: a judge's memory and a backend's seconds stay small.
CHUNK = 2**18
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
    x: float  # the input
    failed: bool


def make_chunks(op: Op, dtypes: Sequence[str]) -> Iterator[Case]:
    """The chunks of an operator of one tensor, of `dtypes` or of all that its rows have. Raises UsageError."""
    if "f64" in dtypes:
        raise UsageError(
            "f64 has 2^64 numbers, more than can be tried: give --level exhaustive --dtype f32, f16, bf16."
        )
    for case in cases_of(op.name, "standard", op.rows):
        if case.fill != EVERY or len(case.tensors) != 1 or (dtypes and case.dtype not in dtypes):
            continue
        dtype = DTYPES[case.dtype]
        size = min(CHUNK, 2 ** (dtype.digits - 1))
        parts = 2 ** width_of(dtype) // size
        (name, shape), *_ = case.tensors
        rows = 2 ** (int(math.log2(size)) // 2)
        chunk = (*(1 for _ in shape[2:]), rows, size // rows)
        for k in range(1, parts + 1):
            yield replace(case, tensors=((name, chunk),), fill=f"{EVERY}:{k}/{parts}")


def rank_ranges(results: Iterable[Result], folders: tuple[str, ...] = ()) -> list[Range]:
    """The worst input of every range that records of chunks tell of, the worst range first."""
    worst: dict[tuple[str, ...], tuple[Result, int, int]] = {}
    for result in results:
        if f"fill={EVERY}:" not in result.case:  # sooner told than read
            continue
        case = Case.parse(result.case)
        if not is_part(case.fill) or result.units is None:
            continue
        part, parts = part_of(case.fill)
        each = 2 ** width_of(DTYPES[case.dtype]) // parts  # numbers of a chunk
        number = (part - 1) * each // 2 ** (DTYPES[case.dtype].digits - 1)
        unpart = str(replace(case, fill=EVERY))
        key = (unpart, result.backend, result.mode, str(number))
        before, tried, _ = worst.get(key, (result, 0, 0))
        farther = result if _error_size_of(result) > _error_size_of(before) else before
        worst[key] = (farther, tried + 1, max(1, 2 ** (DTYPES[case.dtype].digits - 1) // each))
    found = [_range_of(result, tried, of, folders) for result, tried, of in worst.values()]
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
        f"{r.op},{r.backend},{r.mode},{r.dtype},{r.low!r},{r.parts},{r.of},{r.units!r},{r.x!r},{str(r.failed).lower()}"
        for r in found
    ]
    return "\n".join(rows) + "\n"


def _render_line(r: Range) -> str:
    where = f"{r.low:.6g} and beyond" if math.isfinite(r.low) else "infinity and NaN"
    failed = "FAILS" if r.failed else "passes"
    return f"{r.op} {r.mode} {r.dtype} {r.backend}, {where}: {r.units:.3g} units at x = {r.x!r}, {failed}"


def _error_size_of(result: Result) -> tuple[bool, float]:
    return result.verdict in FAILED, float(result.units) if result.units is not None else 0.0


def _range_of(result: Result, tried: int, of: int, folders: tuple[str, ...]) -> Range:
    case = Case.parse(result.case)
    op, x, low = op_of(result.op, folders), math.nan, _low_of(case)
    if result.worst is not None:
        given = make_question(case, op, Mode(result.mode)).case_data.inputs[0]
        assert given is not None
        x = float(given[tuple(result.worst.index)])
    failed, units = _error_size_of(result)
    return Range(result.op, result.backend, result.mode, case.dtype, low, tried, of, units, x, failed)


def _low_of(case: Case) -> float:
    """The smallest number of the chunk's range: that of the range's first chunk."""
    dtype = DTYPES[case.dtype]
    part, parts = part_of(case.fill)
    each = 2 ** width_of(dtype) // parts
    first = (part - 1) * each // 2 ** (dtype.digits - 1) * 2 ** (dtype.digits - 1) // each
    return float(draw_every(f"{EVERY}:{first + 1}/{parts}", (each,), dtype)[0])
