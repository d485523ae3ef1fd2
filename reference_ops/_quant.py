"""Quantised tensors as the bytes that ggml stores, decoded and encoded by the `gguf` package, or else by `_formats`.

The last axis of such a tensor counts bytes: whole blocks of `block(type)[1]` bytes for `block(type)[0]` values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.reference_ops import _formats

Bytes = NDArray[np.uint8]
Bits = Callable[[int], NDArray[np.uint64]]
Draw = Callable[..., Bytes]  # of raw bits and a shape

#: Where in a block the scales of all its numbers lie, floats of 16 bits, of which few mean a weight's.
_SCALES: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("q4_0", "q5_0", "q8_0", "iq4_nl", "iq4_xs", "q1_0", "iq1_s"), (0, 1)),
    **dict.fromkeys(("iq2_xxs", "iq2_xs", "iq2_s", "iq3_xxs", "iq3_s"), (0, 1)),
    **dict.fromkeys(("q4_1", "q5_1", "q8_1", "q4_k", "q5_k"), (0, 1, 2, 3)),
    "iq1_m": (49, 51, 53, 55),  # four bits of the scale in each
    "q2_k": (80, 81, 82, 83),
    "q3_k": (108, 109),
    "q6_k": (208, 209),
    "tq1_0": (52, 53),
    "tq2_0": (64, 65),
}
#: Scales of 8 bits, floats far apart: all of them can be stood for, few be added up.
_POWERS = {"mxfp4": (0,), "nvfp4": (0, 1, 2, 3)}

#: A block of random bytes stands for a weight tensor's where its largest value lies between these.
_LEAST, _MOST = 2.0**-3, 2.0**3

#: gguf takes 16 rows at a time. Blocks know of no rows, and up to so many bytes or values are as well one.
_AT_ONCE = 2**22


def block(type: str) -> tuple[int, int]:
    """Values and bytes of one block of `type`, as in q4_0 or q6_k. Raises ValueError for an unknown one."""
    import gguf

    if type in _formats.SIZES:
        return _formats.SIZES[type]
    if type.upper() not in gguf.GGMLQuantizationType.__members__:
        known = ", ".join(m.lower() for m in gguf.GGMLQuantizationType.__members__)
        raise ValueError(f"unknown quantised type {type!r}: gguf knows {known}.")
    sizes: tuple[int, int] = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[type.upper()]]
    return sizes


def decode(data: Bytes, type: str) -> NDArray[np.float32]:
    """The values of whole blocks: (..., bytes) to (..., values), in float32 as gguf and ggml compute them."""
    import gguf

    values, size = block(type)
    shape = (*data.shape[:-1], data.shape[-1] // size * values)
    if data.size == 0:
        return np.zeros(shape, dtype=np.float32)
    rows = _rows(np.ascontiguousarray(data))
    with np.errstate(all="ignore"):
        if type in _formats.SIZES:
            found = _formats.decode(rows, type)
        else:
            found = gguf.quants.dequantize(rows, gguf.GGMLQuantizationType[type.upper()])
    return np.asarray(found, dtype=np.float32).reshape(shape)


def encode(x: Array, type: str) -> Bytes:
    """The blocks of `x`, whose last axis is a multiple of the block. Raises NotImplementedError if none is."""
    import gguf

    values, size = block(type)
    shape = (*x.shape[:-1], x.shape[-1] // values * size)
    if x.size == 0:
        return np.zeros(shape, dtype=np.uint8)
    rows = _rows(np.ascontiguousarray(x, dtype=np.float32))
    with np.errstate(all="ignore"):
        if type in _formats.SIZES:
            found = _formats.encode(rows, type)
        else:
            found = gguf.quants.quantize(rows, gguf.GGMLQuantizationType[type.upper()])
    return np.asarray(found, dtype=np.uint8).reshape(shape)


def _rows(x: Array) -> Array:
    """The array as few rows of whole blocks."""
    return x.reshape(1, -1) if x.size <= _AT_ONCE else x.reshape(-1, x.shape[-1])


def blocks(type: str, *, summed: bool = False) -> Draw:
    """A constraint of `domain`: draws the bytes of a weight tensor of `type` from raw bits.

    Values that are quantised, one block in seven all zero; or, for types that are only decoded, random bytes
    block by block until they mean finite values of the size of weights. Where `every` is asked for, all bytes run
    through all 256 values from one block to the next, but scales of 16 bits, and of 8 where values are `summed`; where
    `small` is, the scales of 16 bits are subnormal numbers.
    """
    values, size = block(type)

    def draw(bits: Bits, shape: tuple[int, ...], *, every: bool = False, small: bool = False) -> Bytes:
        count = int(np.prod(shape[:-1])) * (shape[-1] // size)
        try:
            found = encode(_weights(bits, count, values), type)
        except NotImplementedError:
            found = _plausible(bits, count, size, type)
        kept = (*_SCALES.get(type, ()), *(_POWERS.get(type, ()) if summed else ()))
        if small:
            found = _with_small_scales(bits, found, _SCALES[type])
        return (_every(bits, found, kept) if every else found).reshape(shape)

    return draw


def _every(bits: Bits, blocks: Bytes, kept: Sequence[int]) -> Bytes:
    """Bytes that begin anywhere and grow by 1 from one block, a row of `blocks`, to the next, beside those `kept`."""
    first = (bits(blocks.shape[-1]) >> np.uint64(11)).astype(np.int64)
    found = (first + np.arange(len(blocks))[:, None]).astype(np.uint8)
    found[:, kept] = blocks[:, kept]
    return found


def _with_small_scales(bits: Bits, blocks: Bytes, places: Sequence[int]) -> Bytes:
    """Blocks whose scales, but those of 0, are subnormal numbers of f16: 1 to 1023 times 2⁻²⁴."""
    scales = np.ascontiguousarray(blocks[:, places]).view("<u2")
    drawn = bits(scales.size).reshape(scales.shape) % np.uint64(1023) + np.uint64(1)
    found = blocks.copy()
    found[:, places] = np.where(scales == 0, 0, drawn).astype("<u2").view(np.uint8)
    return found


def _weights(bits: Bits, count: int, values: int) -> NDArray[Any]:
    """Sums of three uniforms, dyadic rationals between -1.5 and 1.5; every seventh block zero."""
    raw = bits(count * values)
    thirds = [((raw >> np.uint64(21 * i)) & np.uint64(0x1FFFFF)).astype(np.int64) for i in range(3)]
    drawn = (np.asarray(sum(thirds)) - 3 * 2**20).reshape(count, values) / 2.0**21
    return np.where((np.arange(count) % 7 == 3)[:, None], 0, drawn)


def _plausible(bits: Bits, count: int, size: int, type: str) -> Bytes:
    found = np.zeros((count, size), dtype=np.uint8)
    missing = np.ones(count, dtype=bool)
    while missing.any():
        n = int(missing.sum())
        raw = bits(-(-n * size // 8)).astype("<u8").view(np.uint8)[: n * size].reshape(n, size)
        with np.errstate(all="ignore"):
            largest = np.max(np.abs(decode(raw, type)), axis=-1)
        good = (largest >= _LEAST) & (largest <= _MOST)  # false for NaN
        found[np.flatnonzero(missing)[good]] = raw[good]
        missing[np.flatnonzero(missing)[good]] = False
    return found
