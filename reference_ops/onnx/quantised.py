"""ONNX's quantisation, and products and convolutions of integers, by our references. See onnx/table.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from opproof.reference_ops.onnx.shared import NotTranslatable, Ref
from opproof.reference_ops.onnx.windows import translate_conv

#: Our types of codes by NumPy's names.
TYPES = {"int8": "i8", "uint8": "u8", "float8_e4m3fn": "f8e4m3", "float8_e5m2": "f8e5m2"}


def _type_of(dtype: Any) -> str:
    if dtype.name not in TYPES:
        raise NotTranslatable("codes of 2, 4 and 16 bits")
    return TYPES[dtype.name]


def _reshape_scale(scale: Any, x: Any, axis: Any, block: Any) -> Any:
    """A scale with an axis for each of x, as ours is; one for all as it is."""
    if scale is None or scale.size == 1:
        return None if scale is None else scale.reshape(())
    if block:
        if axis % x.ndim != x.ndim - 1:
            raise NotTranslatable("groups along an axis other than the last")
        return scale
    return scale.reshape([-1 if a == axis % x.ndim else 1 for a in range(x.ndim)])


def _reshape_zero_points(zero: Any, x: Any, axis: Any, block: Any) -> Any:
    """Zero points as integers; those of fp8 are 0."""
    return (
        None if zero is None or zero.dtype.kind not in "iu" else _reshape_scale(zero.astype(np.int64), x, axis, block)
    )


def _quantize(
    ref: Ref, x: Any, scale: Any, zero: Any = None, *, axis: Any = 1, block_size: Any = 0, saturate: Any = 1,
    output_dtype: Any = 0, precision: Any = 0,
) -> Any:  # fmt: skip
    if zero is None and output_dtype:
        raise NotTranslatable("a type of codes given by number")
    kind = np.dtype(np.uint8) if zero is None else zero.dtype
    codes = ref(
        "quantize_linear",
        x,
        _reshape_scale(scale, x, axis, block_size),
        _reshape_zero_points(zero, x, axis, block_size),
        type=_type_of(kind),
    )
    return codes.view(kind)


def _translate_dequantize(
    ref: Ref, x: Any, scale: Any, zero: Any = None, *, axis: Any = 1, block_size: Any = 0, output_dtype: Any = 0
) -> Any:
    scale, zero = _reshape_scale(scale, x, axis, block_size), _reshape_zero_points(zero, x, axis, block_size)
    return ref("dequantize_linear", x.view(np.uint8), scale, zero, type=_type_of(x.dtype))


def _translate_dynamic(ref: Ref, x: Any) -> Any:
    y, scale, zero = ref("dynamic_quantize_linear", x.astype(np.float32))  # of which some quotients are ties
    return y, scale, zero.astype(np.uint8)


def _subtract_zero_point(ref: Ref, x: Any, zero: Any, axis: Any) -> Any:
    """Integers less their zero point, of which there is one for all or one along an axis."""
    wide = x.astype(np.int64)
    return wide if zero is None else ref("sub", wide, _reshape_scale(zero.astype(np.int64), x, axis, 0))


def _translate_matmul(ref: Ref, a: Any, b: Any, a_zero: Any = None, b_zero: Any = None) -> Any:
    return ref("matmul", _subtract_zero_point(ref, a, a_zero, -2), _subtract_zero_point(ref, b, b_zero, -1))


def _translate_conv(ref: Ref, x: Any, w: Any, x_zero: Any = None, w_zero: Any = None, **given: Any) -> Any:
    return translate_conv(
        ref, _subtract_zero_point(ref, x, x_zero, 1), _subtract_zero_point(ref, w, w_zero, 0), **given
    )


def _translate_linear_matmul(
    ref: Ref, a: Any, a_scale: Any, a_zero: Any, b: Any, b_scale: Any, b_zero: Any, scale: Any, zero: Any
) -> Any:
    wide = (
        _translate_dequantize(ref, a, a_scale, a_zero, axis=-2),
        _translate_dequantize(ref, b, b_scale, b_zero, axis=-1),
    )
    return _quantize(ref, ref("matmul", *wide), scale, zero)


def _translate_linear_conv(
    ref: Ref, x: Any, x_scale: Any, x_zero: Any, w: Any, w_scale: Any, w_zero: Any, scale: Any, zero: Any,
    b: Any = None, **given: Any,
) -> Any:  # fmt: skip
    if b is not None:
        raise NotTranslatable("a bias of integers")
    wide = _translate_dequantize(ref, x, x_scale, x_zero), _translate_dequantize(ref, w, w_scale, w_zero, axis=0)
    return _quantize(ref, translate_conv(ref, *wide, **given), scale, zero)


QUANTISED: dict[str, Callable[..., Any]] = {
    "ConvInteger": _translate_conv,
    "DequantizeLinear": _translate_dequantize,
    "DynamicQuantizeLinear": _translate_dynamic,
    "MatMulInteger": _translate_matmul,
    "QLinearConv": _translate_linear_conv,
    "QLinearMatMul": _translate_linear_matmul,
    "QuantizeLinear": _quantize,
}
