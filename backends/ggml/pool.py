"""ggml's pooling."""

from __future__ import annotations

from typing import Any

import numpy as np

from opproof.backends.ggml.conv import Sizes, count_windows, to_each_axis
from opproof.backends.ggml.graph import Graph, Tensor
from opproof.backends.ggml.views import cast, ensure_contiguous
from opproof.backends.protocol import Unsupported

OP_POOL_MAX, OP_POOL_AVG = 0, 1  # enum ggml_op_pool


def call_pool(
    g: Graph, name: str, tensors: tuple[Tensor, ...], kind: int, kernel_size: Sizes, stride: Sizes | None,
    padding: Sizes, shape: tuple[int, ...] | None = None,
) -> Tensor:  # fmt: skip
    """ggml_pool_1d, ggml_pool_2d or ggml_pool_2d_back; without `shape`, of as many windows as there are."""
    axes = 1 if "1d" in name else 2
    if np.size(padding) > axes:
        raise Unsupported("ggml's pooling pads both sides of an axis alike")
    kernel, x = to_each_axis(kernel_size, axes), tensors[-1]
    s, p = kernel if stride is None else to_each_axis(stride, axes), to_each_axis(padding, axes)
    if shape is None:
        out = [count_windows(*v, 1) for v in zip(reversed(x.shape[-axes:]), kernel, s, p, strict=True)]
        shape = (*x.shape[:-axes], *reversed(out))
    pads: list[Any] = [float(v) for v in p] if axes == 2 else p
    return g.call(name, *tensors, kind, *kernel, *s, *pads, shape=shape)


def _call_average(
    axes: int, g: Graph, x: Tensor, *, kernel_size: Sizes, stride: Sizes | None, padding: Sizes, ceil_mode: bool,
    count_include_pad: bool, divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    padded = any(np.atleast_1d(padding) != 0)
    if ceil_mode or divisor_override is not None:
        raise Unsupported("ggml's pooling has no ceil_mode and no divisor of its own")
    if padded and count_include_pad != (axes == 2):
        raise Unsupported(f"ggml_pool_{axes}d {'counts' if axes == 2 else 'does not count'} padding in its averages")
    y = call_pool(g, f"ggml_pool_{axes}d", (ensure_contiguous(g, x),), OP_POOL_AVG, kernel_size, stride, padding)
    return cast(g, y, g.type(x))


def avg_pool1d(g: Graph, x: Tensor, **how: Any) -> Tensor:
    return _call_average(1, g, x, **how)


def avg_pool2d(g: Graph, x: Tensor, **how: Any) -> Tensor:
    return _call_average(2, g, x, **how)


def _call_largest(
    axes: int, g: Graph, x: Tensor, *, kernel_size: Sizes, stride: Sizes | None, padding: Sizes, dilation: Sizes,
    ceil_mode: bool,
) -> list[Tensor | None]:  # fmt: skip
    """Without indices."""
    if ceil_mode or any(np.atleast_1d(dilation) != 1):
        raise Unsupported("ggml's pooling has no ceil_mode and no dilation")
    y = call_pool(g, f"ggml_pool_{axes}d", (ensure_contiguous(g, x),), OP_POOL_MAX, kernel_size, stride, padding)
    return [cast(g, y, g.type(x)), None]


def max_pool1d(g: Graph, x: Tensor, **how: Any) -> list[Tensor | None]:
    return _call_largest(1, g, x, **how)


def max_pool2d(g: Graph, x: Tensor, **how: Any) -> list[Tensor | None]:
    return _call_largest(2, g, x, **how)


TABLE: dict[str, Any] = {f.__name__: f for f in (avg_pool1d, avg_pool2d, max_pool1d, max_pool2d)}
