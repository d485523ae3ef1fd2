"""Sums of products of 8-bit integers: codes without their zero point, scales of few bits, results rounded once.

Scales are drawn as 1, 1.25 or 1.5 times a power of two, or where sums are of few terms 1 + 3 / 512 and the like, so
that a sum times its scale is exact in float32 and what lies halfway between two codes is certain.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.reference_ops import _codes as codes

Bits = Callable[[int], NDArray[np.uint64]]
Floats = NDArray[np.float64]

#: What zero points are drawn from: about the mean of the codes drawn.
ZEROS = {"i8": range(-3, 4), "u8": range(5, 9)}
#: Zero points of results: codes to either side.
RESULTS = {"i8": range(-8, 9), "u8": range(120, 137)}
#: How far codes lie from their zero point, as they are usually drawn and where every byte is asked for.
_SPREAD, _WIDEST = {"i8": 32.0, "u8": 6.0}, {"i8": 74.0, "u8": 140.0}
#: Sums of so few products leave room for scales that neither f16 nor bf16 holds: far smaller, or of more bits.
_FEW, _SCALE, _TINY = 3, -6, -26
_FINE = (1 + 3 / 512, 1 + 7 / 512, 1 + 11 / 512)


def _exponent(terms: int) -> int:
    return _TINY if 0 < terms <= _FEW else _SCALE


def scales(terms: int, *, fine: bool) -> Callable[..., Floats]:
    """A constraint of `domain`: scales of one operand of `terms` products that are summed; of one of the two `fine`."""

    def draw(bits: Bits, shape: tuple[int, ...], *, every: bool = False) -> Floats:
        few = fine and _exponent(terms) == _TINY
        return (_few_bits(bits, shape, _FINE) if few else _few_bits(bits, shape)) * 2.0 ** _exponent(terms)

    return draw


def result_scales(*types: str, terms: int) -> Callable[..., Floats]:
    """A constraint of `domain`: scales of a result that is the sum of so many products; few saturate, few vanish."""

    def draw(bits: Bits, shape: tuple[int, ...], *, every: bool = False) -> Floats:
        widest = math.prod(_WIDEST[type] for type in types) * max(terms, 1)  # in order, bytes do not average out
        code = widest / 64 if every else sums_of(*types, terms=terms) / 64
        return _few_bits(bits, shape, (1.0, 2.0)) * 2.0 ** (round(math.log2(code)) + 2 * _exponent(terms))

    return draw


def sums_of(*types: str, terms: int) -> float:
    """How far sums of so many products of codes lie from 0."""
    return math.prod(_SPREAD[type] for type in types) * math.sqrt(max(terms, 1))


def _few_bits(bits: Bits, shape: tuple[int, ...], values: tuple[float, ...] = (1.0, 1.25, 1.5)) -> Floats:
    raw = bits(math.prod(shape)) >> np.uint64(11)
    drawn: Floats = np.asarray(values)[(raw % np.uint64(len(values))).astype(np.int64)].reshape(shape)
    return drawn


def centred(data: Array, zero_point: Array | None, type: str) -> Floats:
    """The integers that codes stand for, zero at the zero point, which broadcasts to them."""
    values = codes.decode(data, type)
    return values if zero_point is None else values - zero_point


def per_channel(values: Any, axes: int = 3) -> Any:
    """One number for all, or one for each channel (o,) as it broadcasts to (o, *axes), NumPy's or PyTorch's."""
    return values if values is None or values.ndim == 0 else values.reshape(-1, *(1,) * axes)


def integers(sums: Floats) -> NDArray[np.int64]:
    """Sums of products that float64 holds exactly."""
    return sums.astype(np.int64)


def requantized(sums: Any, scale: Any, zero_point: Array, type: str) -> Array:
    """The nearest codes of `sums` times `scale`, ties to even, moved by a zero point; what is too large saturated."""
    return codes.encode(np.rint(sums * np.asarray(scale, np.float64)) + zero_point, type)


def torch_centred(torch: Any, data: Any, zero_point: Any, type: str) -> Any:
    """`centred` in PyTorch, in float64, whose products its CPU and GPU builds both have."""
    values = codes.torch_values(torch, data, type).to(torch.float64)
    return values if zero_point is None else values - zero_point


def torch_requantized(torch: Any, sums: Any, scale: Any, zero_point: Any, type: str) -> Any:
    """`requantized` in PyTorch."""
    moved = torch.round(sums * scale) + zero_point
    return moved.clamp(*codes.ENDS[type]).to(torch.int16).to(torch.uint8)
