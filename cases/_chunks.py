"""The cases of level exhaustive: every number of a dtype, and every pair of two numbers of 16 bits, in chunks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from opproof.cases._case import Case
from opproof.cases._fills.exhaustive import EVERY, PAIR_BITS, PAIRS, draw_every, is_part, part_of, width_of
from opproof.cases._registry import cases_of
from opproof.core.dtypes import DTYPES, FLOATS
from opproof.core.errors import UsageError

#: Numbers in a chunk, where a binade has so many: a judge's memory and a backend's seconds stay small.
CHUNK = 2**18
#: Pairs in a chunk: 16,384 chunks an operator and dtype, each of 4 numbers beside all others.
PAIRS_OF_CHUNK = 2**18


def make_chunks(
    op: str, rows: Mapping[str, Sequence[str]], dtypes: Sequence[str], *, pairs: bool = False
) -> Iterator[Case]:
    """The chunks of an operator, of `dtypes` or of all that its rows have, and of `pairs`. Raises UsageError."""
    if "f64" in dtypes:
        raise UsageError(
            "f64 has 2^64 numbers, more than can be tried: give --level exhaustive --dtype f32, f16, bf16."
        )
    for case in cases_of(op, "standard", rows):
        if case.fill == EVERY and len(case.tensors) == 1 and (not dtypes or case.dtype in dtypes):
            yield from _make_parts(case)
    plain = next((c for c in cases_of(op, "smoke", rows) if pairs and len(c.tensors) == 2), None)
    if plain is not None:
        yield from _make_parts_of_pairs(plain, dtypes)


def _make_parts(case: Case) -> Iterator[Case]:
    """Parts of a case of every number, of one sign and one binade each."""
    dtype = DTYPES[case.dtype]
    size = min(CHUNK, 2 ** (dtype.digits - 1))
    parts = 2 ** width_of(dtype) // size
    (name, shape), *_ = case.tensors
    rows = 2 ** (int(math.log2(size)) // 2)
    chunk = (*(1 for _ in shape[2:]), rows, size // rows)
    for k in range(1, parts + 1):
        yield replace(case, tensors=((name, chunk),), fill=f"{EVERY}:{k}/{parts}")


def _make_parts_of_pairs(plain: Case, dtypes: Sequence[str]) -> Iterator[Case]:
    """Parts of all pairs that the two tensors of a case may hold."""
    parts = 2 ** (2 * PAIR_BITS) // PAIRS_OF_CHUNK
    shape = (PAIRS_OF_CHUNK >> PAIR_BITS, 2**PAIR_BITS)
    tensors = tuple((tensor, shape) for tensor, _ in plain.tensors)
    for name in dtypes or FLOATS:
        if name in FLOATS and width_of(DTYPES[name]) == PAIR_BITS:
            for k in range(1, parts + 1):
                yield Case(op=plain.op, tensors=tensors, dtype=name, fill=f"{PAIRS}:{k}/{parts}")


def range_of(text: str) -> tuple[str, int, float] | None:
    """What tells the range of a chunk from others, how many chunks that has, and its number nearest to zero.

    A range is of one sign and one binade, of pairs that of the first number. None of another case.
    """
    if f"fill={EVERY}:" not in text and f"fill={PAIRS}:" not in text:  # sooner told than read
        return None
    case = Case.parse(text)
    if not is_part(case.fill):
        return None
    part, parts = part_of(case.fill)
    dtype = DTYPES[case.dtype]
    each, binade = 2 ** width_of(dtype) // parts, 2 ** (dtype.digits - 1)  # numbers of a chunk, and of a range
    number = (part - 1) * each // binade
    first = number * binade // each
    low = float(draw_every(f"{EVERY}:{first + 1}/{parts}", (each,), dtype)[0])
    return f"{replace(case, fill=case.fill.partition(':')[0])} {number}", max(1, binade // each), low
