"""What a case costs at least, in bytes and operations, and what this machine can: copies and products."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from opproof.core.arrays import Array
from opproof.core.verdicts import Mode
from opproof.harness.reference.data import to_dtype
from opproof.harness.reference.question import Question, evaluate_forward, evaluate_vjp
from opproof.harness.reference.roundoff import ignore_fp_warnings
from opproof.harness.run.request import Wanted
from opproof.reference_ops._operations import Count, wrap_array
from opproof.reports.bench.record import Roofline


@dataclass(frozen=True)
class CallCost:
    bytes: int  # of all inputs and cotangents, read once, and all results, written once
    flops: int  # of the reference as it is written; a transcendental function is one


def facts_of(posed: Question, wanted: tuple[Wanted | None, ...], outputs: Sequence[Array]) -> CallCost:
    """Inputs are read once and results written once, in their dtypes; `outputs` may have any values."""
    named = (*zip(posed.names, posed.inputs, strict=True), *((None, g) for g in posed.cotangents))
    given = {id(v): (v, posed.case.dtype_of(name)) for name, v in named if v is not None}
    read = sum(int(v.size) * to_dtype(v.reshape(-1)[:1], dtype).dtype.itemsize for v, dtype in given.values())
    written = sum(int(np.prod(w.shape)) * w.dtype.itemsize for w in wanted if w is not None)
    return CallCost(read + written, _count_flops(posed, outputs))


def _count_flops(posed: Question, outputs: Sequence[Array]) -> int:
    """Counted, or 0 where the reference does not compute on arrays that count."""
    count = Count()

    def counting(values: Array | None) -> Array | None:
        if values is None or values.dtype.kind in "iub":
            return values
        return wrap_array(np.asarray(values, np.float32), count)  # a scalar is no array

    inputs = [counting(v) for v in posed.inputs]
    try:
        if posed.mode is Mode.FORWARD:
            evaluate_forward(posed.op, inputs, posed.params)
        else:
            with ignore_fp_warnings():
                cotangents = [counting(g) for g in posed.cotangents]
                evaluate_vjp(posed.op, inputs, posed.params, cotangents, [counting(y) for y in outputs])
    except (TypeError, ValueError, AttributeError, IndexError):
        return 0
    return count.total


#: Elements, elements, rows.
_UNCACHED_ELEMENTS = 2**26
_CACHED_ELEMENTS = 2**16
_MATRIX_ROWS = 1024


def measure_roofline(repeats: int = 5) -> Roofline:
    """Measured now, the best of a few times each; takes about a second."""
    return Roofline(
        _measure_copy(_UNCACHED_ELEMENTS // 4, repeats),
        _measure_copy(_CACHED_ELEMENTS // 4, 50 * repeats),
        _measure_product(repeats),
    )


def _measure_copy(elements: int, repeats: int) -> float:
    source, target = np.ones(elements, np.float32), np.ones(elements, np.float32)
    return 2 * source.nbytes / _measure_best(lambda: np.copyto(target, source), repeats)


def _measure_product(repeats: int) -> float:
    a = np.ones((_MATRIX_ROWS, _MATRIX_ROWS), np.float32)
    out = np.empty_like(a)
    return 2 * _MATRIX_ROWS**3 / _measure_best(lambda: np.matmul(a, a, out=out), repeats)


def _measure_best(call: Callable[[], object], repeats: int) -> float:
    spent = []
    for _ in range(repeats + 1):
        started = time.perf_counter()
        call()
        spent.append(time.perf_counter() - started)
    return max(min(spent[1:]), 1e-9)
