"""aidge's operators by ours: convolution, windows, resizing. See pointwise.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import aidge_core as aidge

from opproof.backends.aidge.run import NodeCall, call
from opproof.backends.protocol import Unsupported
from opproof.backends.sizes import Sizes, to_both_sides, to_per_axis
from opproof.core.arrays import Array

Mode, Coordinates = aidge.Interpolation.Mode, aidge.Interpolation.CoordinateTransformation


def with_padding(name: str, padding: Sequence[int]) -> tuple[Callable[..., Any], dict[str, Any]]:
    """The operator without padding where there is none, else aidge's own with padding."""
    if not any(padding):
        return getattr(aidge, name), {}
    if not hasattr(aidge, f"Padded{name}"):
        raise Unsupported(f"aidge's {name} has no padding")
    return getattr(aidge, f"Padded{name}"), {"padding_dims": padding}


def _conv(rank: int, *, depthwise: bool = False) -> Callable[..., NodeCall]:
    """Depthwise: of one channel too, where aidge has a kernel of its own for it."""

    def conv(
        x: Array, weight: Array, bias: Array | None = None,
        *, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int = 1,
    ) -> NodeCall:  # fmt: skip
        channels: tuple[int, ...] = (weight.shape[1], weight.shape[0])
        if groups == x.shape[1] == weight.shape[0] and (groups > 1 or depthwise) and rank < 3:
            name, channels = f"ConvDepthWise{rank}D", (groups,)
        elif groups == 1 and not depthwise:
            name = f"Conv{rank}D"
        else:
            raise Unsupported("aidge's convolutions have no groups but one, or one channel each")
        make, pads = with_padding(name, to_both_sides(padding, rank))
        node = make(
            *channels, list(weight.shape[2:]), stride_dims=to_per_axis(stride, rank),
            dilation_dims=to_per_axis(dilation, rank), no_bias=bias is None, **pads,
        )  # fmt: skip
        return call(node, *((x, weight) if bias is None else (x, weight, bias)))

    return conv


def _conv2d_depthwise(x: Array, weight: Array, bias: Array | None = None, **how: Any) -> NodeCall:
    return _conv(2, depthwise=True)(x, weight, bias, **how, groups=x.shape[1])


def _conv_transpose(rank: int) -> Callable[..., NodeCall]:
    """Its padding_dims are cells added to the result, so padding takes them away, as aidge_onnx has it."""

    def conv_transpose(
        x: Array, weight: Array, bias: Array | None = None,
        *, stride: Sizes, padding: Sizes, output_padding: Sizes, groups: int, dilation: Sizes,
    ) -> NodeCall:  # fmt: skip
        if groups != 1:
            raise Unsupported("aidge's transposed convolutions have no groups")
        before = [-p for p in to_per_axis(padding, rank)]
        after = [p + q for p, q in zip(before, to_per_axis(output_padding, rank), strict=True)]
        make, pads = with_padding(f"ConvTranspose{rank}D", [*before, *after])
        node = make(
            *weight.shape[:2], list(weight.shape[2:]), stride_dims=to_per_axis(stride, rank),
            dilation_dims=to_per_axis(dilation, rank), no_bias=bias is None, **pads,
        )  # fmt: skip
        # Asked for it, aidge runs Pad's backward, which may damage the process, before Conv's says that there is none.
        none = "aidge's transposed convolutions have no backward"
        return call(node, *((x, weight) if bias is None else (x, weight, bias)), no_backward=none)

    return conv_transpose


def _im2col(x: Array, *, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> NodeCall:
    if any(to_per_axis(padding, 2)):
        raise Unsupported("aidge's Unfold2D has no padding")
    return call(
        aidge.Unfold2D(
            to_per_axis(kernel_size, 2), stride_dims=to_per_axis(stride, 2), dilation_dims=to_per_axis(dilation, 2)
        ),
        x,
    )


def _col2im(
    x: Array, *, output_size: Sizes, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes
) -> NodeCall:
    """Fold2D writes past its memory where windows overlap."""
    if any(to_per_axis(padding, 2)):
        raise Unsupported("aidge's Fold2D has no padding")
    output, kernel, steps, dilations = (to_per_axis(v, 2) for v in (output_size, kernel_size, stride, dilation))
    extent = [d * (k - 1) + 1 for d, k in zip(dilations, kernel, strict=True)]
    several = any(o - e >= s for o, e, s in zip(output, extent, steps, strict=True))
    overlap = several and any(e > s for e, s in zip(extent, steps, strict=True))
    node = aidge.Fold2D(output, kernel, stride_dims=steps, dilation_dims=dilations)
    return call(node, x, damages=overlap, no_backward="aidge's Fold2D has no backward")


def _upsample(mode: Any) -> Callable[..., NodeCall]:
    def upsample(x: Array, *, size: tuple[int, int], align_corners: bool = False) -> NodeCall:
        where = Coordinates.ALIGN_CORNERS if align_corners else Coordinates.HALF_PIXEL
        if mode == Mode.FLOOR:
            where = Coordinates.ASYMMETRIC
        node = aidge.Resize(size=[*x.shape[:2], *size], coord_transfo_mode=where, interpolation_mode=mode)
        return call(node, x)

    return upsample


TABLE: dict[str, Callable[..., NodeCall]] = {
    "conv1d": _conv(1),
    "conv2d": _conv(2),
    "conv3d": _conv(3),
    "conv2d_depthwise": _conv2d_depthwise,
    "conv_transpose1d": _conv_transpose(1),
    "conv_transpose2d": _conv_transpose(2),
    "im2col": _im2col,
    "col2im": _col2im,
    "upsample_nearest": _upsample(Mode.FLOOR),
    "upsample_bilinear": _upsample(Mode.LINEAR),
    "upsample_bicubic": _upsample(Mode.CUBIC),
}
