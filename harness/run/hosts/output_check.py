"""The first look at a call's answer: what was written where, what was not, and the results as arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from opproof.backends.worker import serve
from opproof.backends.worker.protocol import BufferRef, dtype_of
from opproof.core.arrays import Array
from opproof.core.text import make_plain
from opproof.core.verdicts import Verdict
from opproof.harness.judge.outputs import EarlyVerdict
from opproof.harness.run.memory.buffer import Buffer, Bytes, find_changed, find_unwritten, is_row_major_at
from opproof.harness.run.memory.layout import Layout
from opproof.harness.run.request import Request, Returned, check_returned

#: Of results that are looked at.
_DTYPES = frozenset({
    *("float16", "float32", "float64", "bfloat16", "float8_e4m3fn", "float8_e5m2", "bool"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
})  # fmt: skip

#: Elements that are looked at at once.
_PIECE = 2**22

_VERDICTS = {
    serve.CallOutcome.DECLINED: Verdict.UNSUPPORTED,
    serve.CallOutcome.FAILED: Verdict.ERROR,
    serve.CallOutcome.OUT_OF_BOUNDS: Verdict.OUT_OF_BOUNDS,
    serve.CallOutcome.INPUT_CHANGED: Verdict.INPUT_CHANGED,
    serve.CallOutcome.OUT_OF_MEMORY: Verdict.OUT_OF_MEMORY,
    serve.CallOutcome.NOT_MADE: Verdict.ERROR,
}


def check_outputs(
    question: Request, layout: Layout, now: Sequence[Bytes], given: serve.WireReply, *, writes: bool
) -> list[Array | None]:
    """The results of an answer, from what the buffers held when it came. Raises Settled for every fault."""
    done = given.outcome is serve.CallOutcome.DONE
    if not done and not question.wrong:
        raise EarlyVerdict(_VERDICTS[given.outcome], make_plain(given.message))
    suspicious = list(find_changed(layout.buffers, now))
    for buffer, data in suspicious:
        if written := buffer.describe_trespass(data):
            raise EarlyVerdict(Verdict.OUT_OF_BOUNDS, f"{buffer.name}: {written}")
    for buffer, data in suspicious:
        if changed := buffer.changed(data):
            raise EarlyVerdict(Verdict.INPUT_CHANGED, f"{buffer.name}: {changed}")
    results = {b.result: (b, data) for b, data in suspicious if b.result is not None}
    if not done:
        written = " and ".join(b.name for b, data in results.values() if not b.holds(data))
        outcome = Verdict.NOT_REFUSED if written else _VERDICTS[given.outcome]
        said = f"{written} was written before the call was refused: " * bool(written)
        raise EarlyVerdict(outcome, f"{said}{make_plain(given.message)}")
    returned = [
        _make_returned(r, layout.request.results[i], *results[i])
        if r is not None and i in results
        else (None if r is None else Returned(r.shape, make_plain(r.dtype), None))
        for i, r in enumerate(given.results)
    ]
    return results_of(returned, question, writes=writes or layout.request.into)


def results_of(returned: Sequence[Returned | None], question: Request, *, writes: bool) -> list[Array | None]:
    """The results, where they are of the form asked for, and written all over. Raises Settled."""
    arrays = check_returned(returned, question)
    _check_truth(arrays, question)
    if writes:
        for array, wanted in zip(arrays, question.wanted, strict=True):
            if array is None or wanted is None:
                continue
            flat = array.reshape(-1)
            parts = (flat[i : i + _PIECE] for i in range(0, max(flat.size, 1), _PIECE))
            if any(find_unwritten(part).any() for part in parts):
                missing = find_unwritten(array)
                index = tuple(int(i) for i in np.argwhere(missing)[0])
                count = f"{int(missing.sum())} of {array.size} elements were not written, the first at {index}"
                raise EarlyVerdict(Verdict.NOT_WRITTEN, f"{wanted.name}: {count}")
    return arrays


def _check_truth(arrays: Sequence[Array | None], question: Request) -> None:
    """Raises Settled for truth values that are neither 0 nor 1: others compare bytes, or count them."""
    for array, wanted in zip(arrays, question.wanted, strict=True):
        if array is None or wanted is None or array.dtype != bool or not array.size:
            continue
        raw = array.view(np.uint8)
        if raw.max() > 1:
            index = tuple(int(i) for i in np.argwhere(raw > 1)[0])
            raise EarlyVerdict(
                Verdict.WRONG_VALUE, f"{wanted.name} at {list(index)} is the byte {raw[index]}: expected 0 or 1"
            )


def _make_returned(described: serve.WireResult, place: BufferRef | None, buffer: Buffer, data: Bytes) -> Returned:
    array = None
    if place is not None and described.shape == place.shape:
        own = data[place.offset - buffer.low : buffer.end - buffer.low]
        array = array_of(described, own) if is_row_major_at(place) else _read_strided(described, place, own)
    return Returned(described.shape, make_plain(described.dtype), array)


def array_of(described: serve.WireResult, data: Bytes) -> Array | None:
    """The array in `data`; None where its dtype is no dtype of results or larger than what was made room for."""
    if described.dtype not in _DTYPES:
        return None
    dtype = dtype_of(described.dtype)
    size = math.prod(described.shape) * dtype.itemsize
    if size > data.size:
        return None
    return data[:size].view(dtype).reshape(described.shape)


def _read_strided(described: serve.WireResult, place: BufferRef, data: Bytes) -> Array | None:
    """The elements that lie in `data` with strides, row by row; None where they have another dtype than asked for."""
    if described.dtype != place.dtype:
        return None
    return np.ndarray(place.shape, dtype_of(place.dtype), data.data, 0, place.strides).copy(order="C")
