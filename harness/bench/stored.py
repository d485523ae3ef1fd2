"""A question as the process that times a backend gets it: arrays as the bytes of their storage."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from opproof.backends.worker.protocol import name_of
from opproof.backends.worker.timing import Calls, Stored
from opproof.cases._layouts import cotangent_layout, layouts_of, storage_of
from opproof.core.arrays import Array
from opproof.core.verdicts import Mode
from opproof.harness.reference.chunks.question import Pair
from opproof.harness.reference.data import to_dtype
from opproof.harness.reference.question import Posed
from opproof.harness.run.request import Wanted


def calls_of(pair: Pair, wanted: Sequence[Wanted | None]) -> Calls:
    """The call with both sets of values, and the results to make room for."""
    asked = pair.asked
    return Calls(
        op=asked.op.name,
        params=dict(asked.params),
        gradient=asked.mode is Mode.GRADIENT,
        inputs=(inputs_of(asked), inputs_of(pair.other)),
        cotangents=(cotangents_of(asked), cotangents_of(pair.other)),
        results=[None if w is None else (name_of(w.dtype), w.shape) for w in wanted],
        needs=list(asked.needs),
    )


def inputs_of(posed: Posed) -> list[Stored | None]:
    """Inputs in their dtypes, laid out as the case says."""
    layouts = layouts_of(posed.case)
    pairs = zip(posed.names, posed.inputs, strict=True)
    return [None if n is None or v is None else _stored(v, posed.case.dtype_of(n), layouts[n]) for n, v in pairs]


def cotangents_of(posed: Posed) -> list[Stored | None]:
    """Cotangents, likewise."""
    layout = cotangent_layout(posed.case)
    return [None if g is None else _stored(g, posed.case.dtype, layout) for g in posed.cotangents]


def _stored(values: Array, dtype: str, layout: str) -> Stored:
    native = to_dtype(values, dtype)
    storage, item = storage_of(native.shape, layout), native.dtype.itemsize
    memory = np.zeros(storage.size * item, np.uint8)
    strides, offset = tuple(s * item for s in storage.strides), storage.offset * item
    np.ndarray(native.shape, native.dtype, memory.data, offset, strides)[...] = native
    return Stored(memory.tobytes(), name_of(native.dtype), native.shape, strides, offset)
