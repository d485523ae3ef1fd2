"""JAX's functions by operator: pooling, by lax.reduce_window. See pointwise.py."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from opproof.backends.sizes import Sizes, to_both_sides, to_per_axis


def _to_sides(padding: Sizes, n: int) -> list[tuple[int, int]]:
    """Padding before and after each of n axes."""
    pads = to_both_sides(padding, n)
    return list(zip(pads[:n], pads[n:], strict=True))


def _count_ceiled(size: int, stride: int, pad: int, far: int, reach: int, ceil_mode: bool) -> int:
    """Cells to add behind the padding so that the last window, begun on x or its padding before, is whole."""
    room = size + pad + far - reach
    if not ceil_mode:
        return 0
    last = -(-room // stride)
    last -= (last * stride) >= size + pad
    return max(last * stride - room, 0)


def _geometry_of(
    x: Any, n: int, kernel_size: Sizes, stride: Sizes | None, padding: Sizes, dilation: Sizes, ceil_mode: bool
) -> tuple[Any, ...]:
    """Window, strides, pads and dilation over all axes of x, and how many of the last pads are no padding."""
    kernel, holes, pads = to_per_axis(kernel_size, n), to_per_axis(dilation, n), _to_sides(padding, n)
    strides = kernel if stride is None else to_per_axis(stride, n)
    extra = [
        _count_ceiled(size, s, *p, d * (k - 1) + 1, ceil_mode)
        for size, k, s, p, d in zip(x.shape[2:], kernel, strides, pads, holes, strict=True)
    ]
    around = [(0, 0), (0, 0), *((p, far + e) for (p, far), e in zip(pads, extra, strict=True))]
    return (1, 1, *kernel), (1, 1, *strides), around, (1, 1, *holes), extra


def _max_pool(n: int) -> Callable[..., Any]:
    def max_pool(
        x: Any, *, kernel_size: Sizes, stride: Sizes | None, padding: Sizes, dilation: Sizes, ceil_mode: bool
    ) -> Any:
        window, strides, pads, holes, _ = _geometry_of(x, n, kernel_size, stride, padding, dilation, ceil_mode)
        low = np.array(-np.inf, x.dtype)  # a constant, so that JAX knows the reduction and its gradient

        def better(a: Any, b: Any) -> Any:
            take = (b[0] > a[0]) | ((b[0] == a[0]) & (b[1] < a[1])) | jnp.isnan(b[0])
            return jnp.where(take, b[0], a[0]), jnp.where(take, b[1], a[1])

        places = jnp.broadcast_to(jnp.arange(math.prod(x.shape[2:])).reshape(x.shape[2:]), x.shape)
        fixed, beyond = jax.lax.stop_gradient(x), np.array(np.iinfo(places.dtype).max, places.dtype)
        y = jax.lax.reduce_window(x, low, jax.lax.max, window, strides, pads, window_dilation=holes)
        _, indices = jax.lax.reduce_window(
            (fixed, places), (low, beyond), better, window, strides, pads, window_dilation=holes
        )
        return y, indices

    return max_pool


def _avg_pool(n: int) -> Callable[..., Any]:
    def avg_pool(
        x: Any, *, kernel_size: Sizes, stride: Sizes | None, padding: Sizes, ceil_mode: bool,
        count_include_pad: bool, divisor_override: int | None = None,
    ) -> Any:  # fmt: skip
        window, strides, pads, _, extra = _geometry_of(x, n, kernel_size, stride, padding, 1, ceil_mode)
        zero = np.zeros((), x.dtype)
        total = jax.lax.reduce_window(x, zero, jax.lax.add, window, strides, pads)
        if divisor_override is not None:
            return total / divisor_override
        cells = jnp.ones(x.shape[2:], x.dtype)
        if count_include_pad:
            cells = jnp.pad(cells, _to_sides(padding, n), constant_values=1)
            around = [(0, e) for e in extra]
        else:
            around = pads[2:]
        return total / jax.lax.reduce_window(cells, zero, jax.lax.add, window[2:], strides[2:], around)

    return avg_pool


TABLE: dict[str, Callable[..., Any]] = {
    "max_pool1d": _max_pool(1),
    "max_pool2d": _max_pool(2),
    "avg_pool1d": _avg_pool(1),
    "avg_pool2d": _avg_pool(2),
}
