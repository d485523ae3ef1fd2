"""Codes of few bits as bytes: fp8, fp4 and small integers, decoded to the numbers that they stand for and drawn.

The last axis of such a tensor counts bytes. i8, u8, f8e4m3, f8e5m2 and f8e8m0 take one each; i4 and f4e2m1 half a one,
the first of two in the low bits. fp8 is that of the OCP (e4m3 without infinities), and ml_dtypes'.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.reference_ops._arrays import unbroadcast

Bytes = NDArray[np.uint8]
Bits = Callable[[int], NDArray[np.uint64]]

#: Codes in a byte.
PER_BYTE = {"i8": 1, "u8": 1, "f8e4m3": 1, "f8e5m2": 1, "f8e8m0": 1, "i4": 2, "f4e2m1": 2}
#: Least and largest number of the integers.
ENDS = {"i8": (-128, 127), "u8": (0, 255), "i4": (-8, 7)}
#: Largest number of fp8.
LARGEST = {"f8e4m3": 448.0, "f8e5m2": 57344.0}
_FP4 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
#: Codes that stand for no finite number: two NaN, or an infinity and NaN.
_NOT_FINITE = {"f8e4m3": (0x7F, 0xFF), "f8e5m2": (0x7C, 0xFE), "f8e8m0": (0xFF, 0xFF)}
#: Codes between which scales are drawn that are neither tiny nor huge: 2^-4 to 2^3, and 2^-3 to 6.5.
_SCALES = {"f8e8m0": range(123, 131), "f8e4m3": range(0x20, 0x4E)}


def _float8(type: str) -> np.dtype[Any]:
    import ml_dtypes

    kinds = {"f8e4m3": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2, "f8e8m0": ml_dtypes.float8_e8m0fnu}
    found: np.dtype[Any] = np.dtype(kinds[type])
    return found


def _halves(data: Bytes) -> Bytes:
    return np.stack([data & 15, data >> 4], axis=-1).reshape(*data.shape[:-1], -1)


def decode(data: Bytes, type: str) -> NDArray[np.float64]:
    """The numbers of (..., bytes) codes, (..., values); those of NaN are NaN."""
    found: Any = np.ascontiguousarray(data).reshape(np.shape(data))  # which else has an axis
    if type in ENDS:
        codes = _halves(found) if type == "i4" else found
        integers = codes.astype(np.float64)
        signed: NDArray[np.float64] = np.where(codes > ENDS[type][1], integers - 2.0 * (ENDS[type][1] + 1), integers)
        return signed
    if type == "f4e2m1":
        codes = _halves(found)
        magnitudes: NDArray[np.float64] = np.where(codes & 8, -1.0, 1.0) * np.asarray(_FP4)[codes & 7]
        return magnitudes
    values: NDArray[np.float64] = found.view(_float8(type)).astype(np.float64)
    return values


def encode(x: Any, type: str) -> Bytes:
    """The nearest codes of i8, u8, f8e4m3 or f8e5m2, ties to even, what is too large saturated. (..., values) alike."""
    if type in ENDS:
        clipped: NDArray[np.float64] = np.clip(np.rint(x), *ENDS[type])
        return clipped.astype(np.int16).astype(np.uint8)
    largest = LARGEST[type]
    found: Bytes = np.clip(x, -largest, largest).astype(_float8(type)).view(np.uint8)
    return found


def weights(type: str) -> Callable[..., Bytes]:
    """A constraint of `domain`: draws the codes of a weight tensor.

    Floats up to 3, i8 up to 96, u8 up to 24, codes of 4 bits all. Where `every` is asked for, all bytes but those
    of NaN and infinities, one after the other; with `nan` two codes of them stand among the others.
    """

    def draw(bits: Bits, shape: tuple[int, ...], *, every: bool = False, nan: bool = False) -> Bytes:
        raw = bits(int(np.prod(shape)))
        if every:
            found = (np.arange(raw.size) + int(raw[0] >> np.uint64(56)) if raw.size else raw).astype(np.uint8)
        elif type in LARGEST:
            found = encode(_thirds(raw) / 2.0**20, type)
        elif type == "i8":
            found = (_thirds(raw) >> 15).astype(np.int8).view(np.uint8)
        elif type == "u8":  # small: products have one sign, and their sums would leave f16
            found = (np.abs(_thirds(raw)) >> 17).astype(np.uint8)
        else:
            found = (raw >> np.uint64(56)).astype(np.uint8)
        with np.errstate(invalid="ignore"):
            kept = np.isfinite(decode(found, type)).reshape(found.size, PER_BYTE[type]).all(axis=-1)
        made = np.where(kept, found, 0).astype(np.uint8)
        return (_with_nan(made, type) if nan else made).reshape(shape)

    return draw


def _with_nan(found: Bytes, type: str) -> Bytes:
    """The codes, flat, two of them of no finite number: one in the middle, one of the first."""
    for place, code in zip((found.size // 2, found.size // 5), _NOT_FINITE.get(type, ()), strict=False):
        found[place : place + 1] = code
    return found


def scales(type: str) -> Callable[..., Bytes]:
    """A constraint of `domain`: draws scales of 8 bits; with `nan` two of them are no finite number."""

    def draw(bits: Bits, shape: tuple[int, ...], *, every: bool = False, nan: bool = False) -> Bytes:
        allowed = _SCALES[type]
        raw = bits(int(np.prod(shape))) >> np.uint64(11)
        made = (allowed.start + raw % np.uint64(len(allowed))).astype(np.uint8)
        return (_with_nan(made, type) if nan else made).reshape(shape)

    return draw


def spread(scale: Any, shape: tuple[int, ...]) -> Any:
    """`scale` as it broadcasts to `shape`: along the last axis one scale may stand for a group of neighbours."""
    if scale.ndim == 0 or scale.shape[-1] in (0, 1, shape[-1]):
        return scale
    return np.repeat(scale, shape[-1] // scale.shape[-1], axis=-1)


def gathered(d: Any, shape: tuple[int, ...]) -> Any:
    """The transpose of `spread`, and of what broadcasts: the sums of `d` over what shares a scale of `shape`."""
    if shape and shape[-1] not in (0, 1, d.shape[-1]):
        d = np.sum(np.reshape(d, (*d.shape[:-1], shape[-1], d.shape[-1] // shape[-1])), axis=-1)
    return unbroadcast(d, shape)


def _thirds(raw: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Sums of three uniforms, integers between -1.5 and 1.5 times 2^21."""
    parts = [((raw >> np.uint64(21 * i)) & np.uint64(0x1FFFFF)).astype(np.int64) for i in range(3)]
    return np.asarray(sum(parts)) - 3 * 2**20


def torch_values(torch: Any, data: Any, type: str) -> Any:
    """The numbers of codes by PyTorch's own dtypes and shifts, in float32."""
    if type in ("i8", "u8"):
        return data.contiguous().view(torch.int8 if type == "i8" else torch.uint8).to(torch.float32)
    if type in ("i4", "f4e2m1"):
        codes = torch.stack([data % 16, data // 16], dim=-1).flatten(-2).to(torch.int64)
        if type == "i4":
            return ((codes + 8) % 16 - 8).to(torch.float32)
        return torch.tensor([*_FP4, *(-v for v in _FP4)])[codes]
    kinds = {"f8e4m3": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2, "f8e8m0": torch.float8_e8m0fnu}
    return data.contiguous().view(kinds[type]).to(torch.float32)


def torch_spread(scale: Any, shape: tuple[int, ...]) -> Any:
    """`spread` in PyTorch."""
    if scale.ndim == 0 or scale.shape[-1] in (0, 1, shape[-1]):
        return scale
    return scale.repeat_interleave(shape[-1] // scale.shape[-1], dim=-1)
