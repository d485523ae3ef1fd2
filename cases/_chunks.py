"""The cases of level exhaustive: every number of a dtype, and every pair of two numbers of 16 bits, in chunks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from opproof.cases._case import Case
from opproof.cases._fills.exhaustive import EVERY, PAIR_BITS, PAIRS, width_of
from opproof.cases._registry import cases_of
from opproof.core.dtypes import DTYPES, FLOATS
from opproof.core.errors import UsageError

if TYPE_CHECKING:
    from opproof.reference_ops import Op

#: Numbers in a chunk, where a binade has so many: a judge's memory and a backend's seconds stay small.
CHUNK = 2**18
#: Pairs in a chunk: 16,384 chunks an operator and dtype, each of 4 numbers beside all others.
PAIRS_OF_CHUNK = 2**18


def make_chunks(op: Op, dtypes: Sequence[str]) -> Iterator[Case]:
    """The chunks of an operator of one tensor or two, of `dtypes` or of all that its rows have. Raises UsageError."""
    if "f64" in dtypes:
        raise UsageError(
            "f64 has 2^64 numbers, more than can be tried: give --level exhaustive --dtype f32, f16, bf16."
        )
    for case in cases_of(op.name, "standard", op.rows):
        if case.fill == EVERY and len(case.tensors) == 1 and (not dtypes or case.dtype in dtypes):
            yield from _make_parts(case)
    yield from _make_parts_of_pairs(op, dtypes)


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


def _make_parts_of_pairs(op: Op, dtypes: Sequence[str]) -> Iterator[Case]:
    """Parts of all pairs that two tensors may hold, of an operator that has a result for each."""
    plain = next((c for c in cases_of(op.name, "smoke", op.rows) if op.facts["PAIRS"] and len(c.tensors) == 2), None)
    if plain is None:
        return
    parts = 2 ** (2 * PAIR_BITS) // PAIRS_OF_CHUNK
    shape = (PAIRS_OF_CHUNK >> PAIR_BITS, 2**PAIR_BITS)
    for name in dtypes or FLOATS:
        if name in FLOATS and width_of(DTYPES[name]) == PAIR_BITS:
            for k in range(1, parts + 1):
                tensors = tuple((tensor, shape) for tensor, _ in plain.tensors)
                yield Case(op=op.name, tensors=tensors, dtype=name, fill=f"{PAIRS}:{k}/{parts}")
