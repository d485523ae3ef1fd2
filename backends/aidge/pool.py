"""aidge's operators by ours: pooling. See pointwise.py."""

from __future__ import annotations

import math
from collections.abc import Callable

import aidge_core as aidge
import numpy as np

from opproof.backends.aidge.run import NodeCall, call
from opproof.backends.aidge.windows import with_padding
from opproof.backends.protocol import Unsupported
from opproof.backends.sizes import Sizes, to_both_sides, to_per_axis
from opproof.core.arrays import Array


def _avg_pool(rank: int) -> Callable[..., NodeCall]:
    def avg_pool(
        x: Array, *, kernel_size: Sizes, stride: Sizes | None, padding: Sizes, ceil_mode: bool,
        count_include_pad: bool, divisor_override: int | None = None,
    ) -> NodeCall:  # fmt: skip
        if divisor_override is not None:
            raise Unsupported("aidge's AvgPooling has no divisor of one's own")
        make, pads = with_padding(f"AvgPooling{rank}D", to_both_sides(padding, rank))
        if pads:
            pads["count_include_pad"] = count_include_pad
        kernel = to_per_axis(kernel_size, rank)
        steps = kernel if stride is None else to_per_axis(stride, rank)
        return call(make(kernel, stride_dims=steps, ceil_mode=ceil_mode, **pads), x)

    return avg_pool


def _to_per_plane(shape: tuple[int, ...]) -> Callable[[list[Array]], list[Array | None]]:
    """Indices count in aidge from the first cell of all, as ONNX, in opproof from the plane's own, as PyTorch."""

    def finish(found: list[Array]) -> list[Array | None]:
        planes = np.arange(shape[0] * shape[1]).reshape(*shape[:2], *(1,) * (len(shape) - 2))
        return [found[0], found[1] - planes * math.prod(shape[2:])]

    return finish


def _max_pool(rank: int) -> Callable[..., NodeCall]:
    def max_pool(
        x: Array, *, kernel_size: Sizes, stride: Sizes | None, padding: Sizes, dilation: Sizes, ceil_mode: bool
    ) -> NodeCall:
        make, pads = with_padding(f"MaxPooling{rank}D", to_both_sides(padding, rank))
        kernel = to_per_axis(kernel_size, rank)
        steps = kernel if stride is None else to_per_axis(stride, rank)
        node = make(kernel, stride_dims=steps, dilations=to_per_axis(dilation, rank), ceil_mode=ceil_mode, **pads)
        if pads:
            return call(node, x, finish=lambda arrays: [*arrays, None])  # a padded one tells no indices
        return call(node, x, outputs=(0, 1), finish=_to_per_plane(x.shape))

    return max_pool


def _adaptive_avg_pool2d(x: Array, *, output_size: Sizes) -> NodeCall:
    if to_per_axis(output_size, 2) != (1, 1):
        raise Unsupported("aidge has GlobalAveragePooling, to 1 x 1, only")
    return call(aidge.GlobalAveragePooling(), x)


TABLE: dict[str, Callable[..., NodeCall]] = {
    "avg_pool1d": _avg_pool(1),
    "avg_pool2d": _avg_pool(2),
    "max_pool1d": _max_pool(1),
    "max_pool2d": _max_pool(2),
    "adaptive_avg_pool2d": _adaptive_avg_pool2d,
}
