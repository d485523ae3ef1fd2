"""ONNX's operators by ours: convolution, pooling, resizing. See model.py."""

from __future__ import annotations

import math

import numpy as np

from opproof.backends.onnx.model import ELEMENTS, Entry, Model, ModelInput
from opproof.backends.protocol import Unsupported
from opproof.backends.sizes import Sizes, to_both_sides, to_per_axis


def _make_conv(
    m: Model,
    x: ModelInput | str,
    weight: ModelInput | str,
    bias: ModelInput | None = None,
    *,
    axes: int,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    groups: int,
) -> str:
    return m.node(
        "Conv",
        x,
        weight,
        bias,
        strides=to_per_axis(stride, axes),
        pads=2 * to_per_axis(padding, axes),
        dilations=to_per_axis(dilation, axes),
        group=groups,
    )


def _convolution(axes: int) -> Entry:
    return lambda m, x, weight, bias=None, **given: _make_conv(m, x, weight, bias, axes=axes, **given)


def _depthwise(m: Model, x: ModelInput, weight: ModelInput, bias: ModelInput | None = None, **given: Sizes) -> str:
    return _make_conv(m, x, weight, bias, axes=2, groups=x.shape[1], **given)


def _ssm_conv(m: Model, x: ModelInput, weight: ModelInput) -> str:
    """Conv with a kernel per channel; ours has channels last in its result and no axis of inputs in the weight."""
    kernels = m.node("Unsqueeze", weight, m.constant([1]))
    y = _make_conv(m, x, kernels, axes=1, stride=1, padding=0, dilation=1, groups=x.shape[1])
    return m.node("Transpose", y, perm=[0, 2, 1])


def _conv_transpose(axes: int) -> Entry:
    def entry(
        m: Model,
        x: ModelInput,
        weight: ModelInput,
        bias: ModelInput | None = None,
        *,
        stride: Sizes,
        padding: Sizes,
        output_padding: Sizes,
        groups: int,
        dilation: Sizes,
    ) -> str:
        return m.node(
            "ConvTranspose",
            x,
            weight,
            bias,
            strides=to_per_axis(stride, axes),
            pads=2 * to_per_axis(padding, axes),
            output_padding=to_per_axis(output_padding, axes),
            group=groups,
            dilations=to_per_axis(dilation, axes),
        )

    return entry


def _attributes_of_windows(
    axes: int, kernel_size: Sizes, stride: Sizes | None, padding: Sizes, *, ceil_mode: bool
) -> dict[str, object]:
    """The attributes that both poolings share."""
    return {
        "kernel_shape": to_per_axis(kernel_size, axes),
        "strides": to_per_axis(kernel_size if stride is None else stride, axes),
        "pads": to_both_sides(padding, axes),
        "ceil_mode": int(ceil_mode),
    }


def _avg_pool(axes: int) -> Entry:
    def entry(
        m: Model,
        x: ModelInput,
        *,
        kernel_size: Sizes,
        stride: Sizes | None,
        padding: Sizes,
        ceil_mode: bool,
        count_include_pad: bool,
        divisor_override: int | None = None,
    ) -> str:
        if divisor_override is not None:
            raise Unsupported("ONNX's AveragePool has no divisor_override")
        given = _attributes_of_windows(axes, kernel_size, stride, padding, ceil_mode=ceil_mode)
        return m.node("AveragePool", x, **given, count_include_pad=int(count_include_pad))

    return entry


def _max_pool(axes: int) -> Entry:
    def entry(
        m: Model,
        x: ModelInput,
        *,
        kernel_size: Sizes,
        stride: Sizes | None,
        padding: Sizes,
        dilation: Sizes,
        ceil_mode: bool,
    ) -> list[str]:
        given = _attributes_of_windows(axes, kernel_size, stride, padding, ceil_mode=ceil_mode)
        y, index = m.nodes_results("MaxPool", 2, x, **given, dilations=to_per_axis(dilation, axes))
        plane = m.constant(math.prod(x.shape[2:]))  # ONNX counts through the whole tensor, ours in each plane
        return [y, m.node("Mod", index, plane)]

    return entry


def _grid_sample(
    m: Model, x: ModelInput, grid: ModelInput, *, mode: str, padding_mode: str, align_corners: bool
) -> str:
    given = {"mode": "linear" if mode == "bilinear" else mode, "padding_mode": padding_mode}
    return m.node("GridSample", x, grid, **given, align_corners=int(align_corners))


def _roi_pool(
    m: Model, x: ModelInput, rois: ModelInput, index: ModelInput, *, output_size: tuple[int, int], spatial_scale: float
) -> str:
    """A box is five numbers, the first of them the plane's."""
    boxes = m.node("Concat", m.node("Unsqueeze", index, m.constant([1])), rois, axis=1)
    given = {"pooled_shape": list(output_size), "spatial_scale": spatial_scale}
    return m.node("MaxRoiPool", x, m.node("Cast", boxes, to=ELEMENTS[x.dtype]), **given)


def _lp_pool2d(
    m: Model, x: ModelInput, *, kernel_size: Sizes, p: float, stride: Sizes | None, padding: Sizes, ceil_mode: bool
) -> str:
    if p != int(p):
        raise Unsupported("ONNX's LpPool has norms of whole numbers")
    return m.node("LpPool", x, **_attributes_of_windows(2, kernel_size, stride, padding, ceil_mode=ceil_mode), p=int(p))


def _max_unpool2d(m: Model, x: ModelInput, indices: ModelInput, *, output_size: tuple[int, int]) -> str:
    """Places are counted through all planes."""
    planes = math.prod(output_size) * np.arange(x.shape[0] * x.shape[1]).reshape(*x.shape[:2], 1, 1)
    whole = m.constant([*x.shape[:2], *output_size])
    return m.node("MaxUnpool", x, m.node("Add", indices, m.constant(planes)), whole, kernel_shape=[1, 1])


def _affine_grid(m: Model, theta: ModelInput, *, size: tuple[int, ...], align_corners: bool) -> str:
    if align_corners and 1 in size:
        raise Unsupported("the one cell of an axis lies at its first corner in ONNX, in PyTorch in the middle")
    return m.node("AffineGrid", theta, m.constant([theta.shape[0], 1, *size]), align_corners=int(align_corners))


def _roi_align(
    m: Model,
    x: ModelInput,
    rois: ModelInput,
    index: ModelInput,
    *,
    output_size: tuple[int, int],
    spatial_scale: float,
    sampling_ratio: int,
    aligned: bool,
) -> str:
    return m.node(
        "RoiAlign",
        x,
        rois,
        index,
        mode="avg",
        output_height=output_size[0],
        output_width=output_size[1],
        sampling_ratio=sampling_ratio,
        spatial_scale=spatial_scale,
        coordinate_transformation_mode="half_pixel" if aligned else "output_half_pixel",
    )


def _deform_conv2d(
    m: Model,
    x: ModelInput,
    offset: ModelInput,
    weight: ModelInput,
    bias: ModelInput | None = None,
    mask: ModelInput | None = None,
    *,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
) -> str:
    kernel = weight.shape[2:]
    return m.node(
        "DeformConv",
        x,
        weight,
        offset,
        bias,
        mask,
        kernel_shape=kernel,
        strides=to_per_axis(stride, 2),
        pads=2 * to_per_axis(padding, 2),
        dilations=to_per_axis(dilation, 2),
        group=x.shape[1] // weight.shape[1],
        offset_group=offset.shape[1] // (2 * math.prod(kernel)),
    )


def _adaptive_avg_pool(m: Model, x: ModelInput, *, output_size: Sizes) -> str:
    if set(to_per_axis(output_size, x.rank - 2)) != {1}:
        raise Unsupported("ONNX's GlobalAveragePool has one cell for a result")
    return m.node("GlobalAveragePool", x)


def _col2im(
    m: Model, x: ModelInput, *, output_size: Sizes, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes
) -> str:
    image, block = (m.constant(to_per_axis(n, 2)) for n in (output_size, kernel_size))
    return m.node(
        "Col2Im",
        x,
        image,
        block,
        dilations=to_per_axis(dilation, 2),
        pads=2 * to_per_axis(padding, 2),
        strides=to_per_axis(stride, 2),
    )


def _resize(mode: str) -> Entry:
    def entry(m: Model, x: ModelInput, *, size: tuple[int, int], align_corners: bool = False) -> str:
        sizes = m.constant((*x.shape[:2], *size))
        if mode == "nearest":
            return m.node(
                "Resize",
                x,
                None,
                None,
                sizes,
                mode="nearest",
                coordinate_transformation_mode="asymmetric",
                nearest_mode="floor",
            )
        how = "align_corners" if align_corners else "half_pixel"
        return m.node("Resize", x, None, None, sizes, mode=mode, coordinate_transformation_mode=how)

    return entry


TABLE: dict[str, Entry] = {
    "conv1d": _convolution(1),
    "conv2d": _convolution(2),
    "conv3d": _convolution(3),
    "conv2d_depthwise": _depthwise,
    "ssm_conv": _ssm_conv,
    "conv_transpose1d": _conv_transpose(1),
    "conv_transpose2d": _conv_transpose(2),
    "conv_transpose3d": _conv_transpose(3),
    "avg_pool1d": _avg_pool(1),
    "avg_pool2d": _avg_pool(2),
    "avg_pool3d": _avg_pool(3),
    "max_pool1d": _max_pool(1),
    "max_pool2d": _max_pool(2),
    "max_pool3d": _max_pool(3),
    "grid_sample": _grid_sample,
    "roi_align": _roi_align,
    "lp_pool2d": _lp_pool2d,
    "roi_pool": _roi_pool,
    "max_unpool2d": _max_unpool2d,
    "affine_grid": _affine_grid,
    "deform_conv2d": _deform_conv2d,
    **{f"adaptive_avg_pool{rank}d": _adaptive_avg_pool for rank in (1, 2, 3)},
    "col2im": _col2im,
    "upsample_nearest": _resize("nearest"),
    "upsample_bilinear": _resize("linear"),
    "upsample_bicubic": _resize("cubic"),
}
