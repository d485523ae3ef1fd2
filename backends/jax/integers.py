"""JAX's sums of products of 8-bit integers, as XLA has them: codes of 8 bits in, 32 bits out, zero points apart.

Where there are zero points the codes are widened to 32 bits first, as XLA's products take none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from jax import numpy as jnp

_KINDS = {"i8": jnp.int8, "u8": jnp.uint8}
_ENDS = {"i8": (-128, 127), "u8": (0, 255)}


def _read_codes(data: Any, zero_point: Any, kind: str) -> Any:
    codes = jax.lax.bitcast_convert_type(data, _KINDS[kind])
    return codes if zero_point is None else codes.astype(jnp.int32) - zero_point.astype(jnp.int32)


def _make_alike(left: Any, right: Any) -> tuple[Any, Any]:
    """Both of one type, which XLA's products want."""
    return (left, right) if left.dtype == right.dtype else (left.astype(jnp.int32), right.astype(jnp.int32))


def _reshape_channels(values: Any, axes: int) -> Any:
    return values if values is None or values.ndim == 0 else values.reshape(-1, *(1,) * axes)


def _quantise_again(sums: Any, scale: Any, zero_point: Any, kind: str) -> Any:
    moved = jnp.round(sums.astype(jnp.float32) * scale) + zero_point.astype(jnp.float32)
    return jax.lax.bitcast_convert_type(jnp.clip(moved, *_ENDS[kind]).astype(_KINDS[kind]), jnp.uint8)


def matmul_integer(
    a: Any, b: Any, a_zero_point: Any = None, b_zero_point: Any = None, *, type: str, b_type: str  # noqa: A002
) -> Any:  # fmt: skip
    left, right = _make_alike(_read_codes(a, a_zero_point, type), _read_codes(b, b_zero_point, b_type))
    return jnp.matmul(left, right, preferred_element_type=jnp.int32)


def qlinear_matmul(
    a: Any, a_scale: Any, a_zero_point: Any, b: Any, b_scale: Any, b_zero_point: Any, y_scale: Any, y_zero_point: Any,
    *, type: str, b_type: str,  # noqa: A002
) -> Any:  # fmt: skip
    sums = matmul_integer(a, b, a_zero_point, b_zero_point, type=type, b_type=b_type)
    return _quantise_again(sums, a_scale * b_scale / y_scale, y_zero_point, type)


def conv_integer(
    x: Any, weight: Any, x_zero_point: Any = None, weight_zero_point: Any = None, *, type: str,  # noqa: A002
    weight_type: str, stride: Any, padding: Any, dilation: Any, groups: int,
) -> Any:  # fmt: skip
    image = _read_codes(x, x_zero_point, type)
    image, kernels = _make_alike(image, _read_codes(weight, _reshape_channels(weight_zero_point, 3), weight_type))
    strides, pads, spread = ((v, v) if isinstance(v, int) else v for v in (stride, padding, dilation))
    return jax.lax.conv_general_dilated(
        image, kernels, strides, [(p, p) for p in pads], rhs_dilation=spread, feature_group_count=groups,
        preferred_element_type=jnp.int32,
    )  # fmt: skip


def qlinear_conv(
    x: Any, x_scale: Any, x_zero_point: Any, weight: Any, weight_scale: Any, weight_zero_point: Any, y_scale: Any,
    y_zero_point: Any, bias: Any = None, *, type: str, weight_type: str, **how: Any,  # noqa: A002
) -> Any:  # fmt: skip
    sums = conv_integer(x, weight, x_zero_point, weight_zero_point, type=type, weight_type=weight_type, **how)
    moved = sums if bias is None else sums + _reshape_channels(bias, 2).astype(jnp.int32)
    return _quantise_again(moved, x_scale * _reshape_channels(weight_scale, 2) / y_scale, y_zero_point, type)


TABLE: dict[str, Callable[..., Any]] = {
    f.__name__: f for f in (matmul_integer, qlinear_matmul, conv_integer, qlinear_conv)
}
