"""Block formats of ggml that the gguf package lists but does not decode, as ggml-common.h lays them out.

q8_1: scale and scaled sum of a block, two float16, then 32 signed bytes. q1_0: a float16 scale, then 128 bits, each
plus or minus the scale.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float32]

#: Values and bytes of a block. gguf says 40 bytes for q8_1, whose scale and sum were float32 once.
SIZES = {"q8_1": (32, 36), "q1_0": (128, 18)}


def _half(blocks: Bytes, at: int) -> Floats:
    """The float16 number at byte `at` of each block, as a column."""
    found: Floats = np.ascontiguousarray(blocks[:, at : at + 2]).view("<f2").astype(np.float32)
    return found


def _q8_1(blocks: Bytes) -> Floats:
    return _half(blocks, 0) * blocks[:, 4:].view(np.int8).astype(np.float32)


def _q1_0(blocks: Bytes) -> Floats:
    bits = np.unpackbits(blocks[:, 2:], axis=1, bitorder="little")
    return np.where(bits != 0, _half(blocks, 0), -_half(blocks, 0))


def _to_q8_1(x: Floats) -> Bytes:
    """quantize_row_q8_1_ref: halves away from zero, the sum that of the integers."""
    scale = np.max(np.abs(x), axis=1, keepdims=True) / np.float32(127)
    inverse = np.where(scale == 0, np.float32(0), np.float32(1) / scale)
    scaled = x * inverse
    codes = np.copysign(np.floor(np.abs(scaled) + np.float32(0.5)), scaled).astype(np.int8)
    total = np.sum(codes, axis=1, keepdims=True, dtype=np.int32).astype(np.float32) * scale
    halves = [h.astype("<f2").view(np.uint8) for h in (scale, total)]
    return np.concatenate([*halves, codes.view(np.uint8)], axis=1)


DECODE: dict[str, Callable[[Bytes], Any]] = {"q8_1": _q8_1, "q1_0": _q1_0}
ENCODE: dict[str, Callable[[Floats], Bytes]] = {"q8_1": _to_q8_1}


def decode(rows: Bytes, type: str) -> Floats:
    """The values of whole blocks: (rows, bytes) to (rows, values)."""
    values: Floats = DECODE[type](rows.reshape(-1, SIZES[type][1]))
    return values.reshape(len(rows), -1)


def encode(rows: Floats, type: str) -> Bytes:
    """The blocks of (rows, values). Raises NotImplementedError for a type that is only decoded."""
    if type not in ENCODE:
        raise NotImplementedError(type)
    return ENCODE[type](rows.reshape(-1, SIZES[type][0])).reshape(len(rows), -1)
