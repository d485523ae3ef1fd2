"""JAX's products of codes of 8 and 4 bits, whose bytes are read as its own dtypes, and its casts to and from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from jax import numpy as jnp

_KINDS = {
    "i8": jnp.int8,
    "u8": jnp.uint8,
    "i4": jnp.int4,
    "f8e4m3": jnp.float8_e4m3fn,
    "f8e5m2": jnp.float8_e5m2,
    "f8e8m0": jnp.float8_e8m0fnu,
    "f4e2m1": jnp.float4_e2m1fn,
}
_ENDS = {"i8": (-128, 127), "u8": (0, 255)}
_LARGEST = {"f8e4m3": 448.0, "f8e5m2": 57344.0}


def _read_codes(data: Any, kind: str) -> Any:
    """The bytes as JAX's dtype; of 4 bits there are twice as many."""
    found = jax.lax.bitcast_convert_type(data, _KINDS[kind])
    return found.reshape(*data.shape[:-1], -1) if found.ndim > data.ndim else found


def _repeat_scale(scale: Any, shape: tuple[int, ...]) -> Any:
    """Along the last axis one scale may stand for a group of neighbours."""
    if scale.ndim == 0 or scale.shape[-1] in (0, 1, shape[-1]):
        return scale
    return jnp.repeat(scale, shape[-1] // scale.shape[-1], axis=-1)


def _widen(x: Any) -> Any:
    """At least float32."""
    return x.astype(jnp.promote_types(x.dtype, jnp.float32))


def scaled_matmul(x: Any, weight: Any, scale: Any, *, type: str, scales: str) -> Any:  # noqa: A002 - the operator's
    wide, codes = _widen(x), _read_codes(weight, type)
    factors = _widen(scale) if scales == "float" else _read_codes(scale, scales).astype(wide.dtype)
    weights = codes.astype(wide.dtype) * _repeat_scale(factors, codes.shape)
    return jnp.matmul(wide, weights.T).astype(x.dtype)


def scaled_mm(a: Any, b: Any, scale_a: Any, scale_b: Any, *, type: str) -> Any:  # noqa: A002
    """The product of the codes themselves, accumulated in float32 or int32."""
    left, right = _widen(scale_a), _widen(scale_b)
    kind = jnp.int32 if type in _ENDS else left.dtype
    sums = jax.lax.dot_general(
        _read_codes(a, type), _read_codes(b, type), (((1,), (1,)), ((), ())), preferred_element_type=kind
    )  # fmt: skip
    rows = left[:, None] if left.ndim else left
    return (sums.astype(left.dtype) * rows * right).astype(scale_a.dtype)


def dequantize_linear(data: Any, scale: Any, zero_point: Any = None, *, type: str) -> Any:  # noqa: A002
    factors = _widen(scale)
    values = _read_codes(data, type).astype(factors.dtype)
    moved = values if zero_point is None else values - _repeat_scale(zero_point, data.shape).astype(values.dtype)
    return (moved * _repeat_scale(factors, data.shape)).astype(scale.dtype)


def quantize_linear(x: Any, scale: Any, zero_point: Any = None, *, type: str) -> Any:  # noqa: A002
    q = _widen(x) / _repeat_scale(_widen(scale), x.shape)
    if type in _ENDS:
        moved = jnp.round(q) + (0 if zero_point is None else _repeat_scale(zero_point, x.shape).astype(q.dtype))
        return jax.lax.bitcast_convert_type(jnp.clip(moved, *_ENDS[type]).astype(_KINDS[type]), jnp.uint8)
    return jax.lax.bitcast_convert_type(jnp.clip(q, -_LARGEST[type], _LARGEST[type]).astype(_KINDS[type]), jnp.uint8)


TABLE: dict[str, Callable[..., Any]] = {
    f.__name__: f for f in (scaled_matmul, scaled_mm, dequantize_linear, quantize_linear)
}
