"""rescale: integers times a number, given as a multiplier over a power of two, rounded and put into fewer bits.

Shapes: x (..., n), of integers in [-2²⁰, 2²⁰); multiplier (n,) in [2³⁰, 2³¹) and shift (n,) in [30, 63), or both of 1;
y int64 as x: (x - input_zero_point) multiplier / 2^shift, halves upwards, plus output_zero_point, between the least and
the largest of `bits`, signed or not. Where `double_round` and shift > 31, halves of 2^31 are added away from 0 too.
Gradient: none, the inputs are integers.
Source: the TOSA specification 1.0, RESCALE and apply_scale_32; Jacob et al., Quantization and Training of Neural
Networks for Efficient Integer-Arithmetic-Only Inference (2018), section 2.2.
PyTorch: none. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array, Whole
from opproof.reference_ops._bits import on_bits

SIGNATURE = "(...,n),(n),(n)"
EXACT = ("forward",)
TRIVIAL = {"forward": ("constant", "zeros")}  # of shifts past all digits, and of bits that hold none
_HALF = 2**30


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"x": Whole(range(-(2**20), 2**20)), "multiplier": Whole(range(2**30, 2**31)), "shift": Whole(range(30, 63))}


def _ends(bits: int, signed: bool) -> tuple[int, int]:
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)


def _scaled(x: Array, multiplier: Array, shift: Array, double_round: bool) -> Array:
    half = np.left_shift(np.int64(1), shift - 1)
    if double_round:
        half = half + np.where(shift > 31, np.where(x >= 0, _HALF, -_HALF), 0)
    return np.right_shift(x * multiplier + half, shift)  # type: ignore[no-any-return]


def forward(
    x: Array, multiplier: Array, shift: Array, *, input_zero_point: int = 0, output_zero_point: int = 0, bits: int = 8,
    signed: bool = True, double_round: bool = False,
) -> Array:  # fmt: skip
    if multiplier.shape != shift.shape:
        raise ValueError(f"multipliers of {multiplier.shape} and shifts of {shift.shape}")

    def whole(values: Array, factors: Array, places: Array) -> Array:
        y = _scaled(values - input_zero_point, factors, places, double_round) + output_zero_point
        return np.clip(y, *_ends(bits, signed))  # type: ignore[no-any-return]

    return on_bits(whole, x, multiplier, shift)


def torch(
    torch: Any, x: Any, multiplier: Any, shift: Any, *, input_zero_point: int = 0, output_zero_point: int = 0,
    bits: int = 8, signed: bool = True, double_round: bool = False,
) -> Any:  # fmt: skip
    """The remainder of a division says whether to round up; rounding twice is done in two steps."""
    product, unit = (x - input_zero_point) * multiplier, 2**shift
    half = torch.div(unit, 2, rounding_mode="floor")
    extra = torch.where(x >= input_zero_point, _HALF, -_HALF) if double_round else torch.zeros_like(x)
    product = product + torch.where(shift > 31, extra, 0)
    y = torch.div(product, unit, rounding_mode="floor")
    y = y + (torch.remainder(product, unit) >= half).to(y.dtype)
    return (y + output_zero_point).clamp(*_ends(bits, signed))
