"""What a case costs at least: bytes that must be moved, and operations of the reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from opproof.core.arrays import Array
from opproof.core.verdicts import Mode
from opproof.harness.bench.counting import Count, counted
from opproof.harness.reference import expected
from opproof.harness.reference.data import to_dtype
from opproof.harness.reference.question import Posed
from opproof.harness.reference.roundoff import quiet
from opproof.harness.run.request import Wanted


@dataclass(frozen=True)
class Facts:
    """Of one call."""

    bytes: int  # of all inputs and cotangents, read once, and all results, written once
    flops: int  # of the reference as it is written; a transcendental function is one


def facts_of(posed: Posed, wanted: tuple[Wanted | None, ...], outputs: Sequence[Array]) -> Facts:
    """Inputs are read once and results written once, in their dtypes; `outputs` may have any values."""
    named = (*zip(posed.names, posed.inputs, strict=True), *((None, g) for g in posed.cotangents))
    given = {id(v): (v, posed.case.dtype_of(name)) for name, v in named if v is not None}
    read = sum(_stored(v, dtype) for v, dtype in given.values())
    written = sum(int(np.prod(w.shape)) * w.dtype.itemsize for w in wanted if w is not None)
    return Facts(read + written, _flops(posed, outputs))


def _stored(values: Array, dtype: str) -> int:
    return int(values.size) * int(to_dtype(values.reshape(-1)[:1], dtype).dtype.itemsize)


def _flops(posed: Posed, outputs: Sequence[Array]) -> int:
    """Counted, or 0 where the reference does not compute on arrays that count."""
    count = Count()

    def counting(values: Array | None) -> Array | None:
        if values is None or values.dtype.kind in "iub":
            return values
        return counted(np.asarray(values, np.float32), count)  # a scalar is no array

    inputs = [counting(v) for v in posed.inputs]
    try:
        if posed.mode is Mode.FORWARD:
            expected.forward(posed.op, inputs, posed.params)
        else:
            with quiet():
                cotangents = [counting(g) for g in posed.cotangents]
                expected.vjp(posed.op, inputs, posed.params, cotangents, [counting(y) for y in outputs])
    except (TypeError, ValueError, AttributeError, IndexError):
        return 0
    return count.total
