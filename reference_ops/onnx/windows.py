"""ONNX's convolutions, pooling and resizing, by our references. See onnx/table.py."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from opproof.reference_ops.onnx.shared import NotTranslatable, Ref, to_numbers


@dataclass(frozen=True)
class _Window:
    """How a window moves over as many axes as its kernel has: ONNX's attributes, those filled in that are not given."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    before: list[int]  # cells put before each axis, and after it
    after: list[int]

    @property
    def name(self) -> str:
        """The end of the names of our operators of so many axes."""
        return f"{len(self.kernel)}d"

    @property
    def padding(self) -> tuple[int, ...]:
        """Padding as our pools take it: one number an axis where both sides are alike, else two."""
        return tuple(self.before) if self.before == self.after else (*self.before, *self.after)


def _window_of(
    x: Any, kernel: Any, *, strides: Any = None, dilations: Any = None, pads: Any = None, auto_pad: Any = "NOTSET"
) -> _Window:
    n = len(kernel)
    strides, dilations = strides or [1] * n, dilations or [1] * n
    if auto_pad in ("NOTSET", "") and pads is not None:
        before, after = to_numbers(pads)[:n], to_numbers(pads)[n:]
    elif auto_pad in ("NOTSET", "", "VALID"):
        before, after = [0] * n, [0] * n
    else:
        reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilations, strict=True)]
        sizes = zip(x.shape[2:], strides, reach, strict=True)
        before, after = _halve([max((-(-size // s) - 1) * s + r - size, 0) for size, s, r in sizes], auto_pad)
    return _Window(tuple(kernel), tuple(strides), tuple(dilations), before, after)


def _halve(total: list[int], auto_pad: Any) -> tuple[list[int], list[int]]:
    """Cells before and after each axis: SAME_UPPER puts the smaller half before, all else the larger."""
    less, more = [t // 2 for t in total], [t - t // 2 for t in total]
    return (less, more) if auto_pad == "SAME_UPPER" else (more, less)


def _pad_explicitly(ref: Ref, x: Any, before: Any, after: Any) -> Any:
    """X with zeros made explicit, which ours have alike on both sides only."""
    widths = [n for pair in zip(reversed(before), reversed(after), strict=True) for n in pair]
    return ref("pad", x, pad=tuple(widths), value=0.0)


def _pad_unevenly(ref: Ref, x: Any, window: _Window) -> tuple[Any, tuple[int, ...]]:
    """X, and the padding that is left for a convolution to do: none where the sides differ."""
    if window.before == window.after:
        return x, tuple(window.before)
    return _pad_explicitly(ref, x, window.before, window.after), (0,) * len(window.kernel)


def translate_conv(
    ref: Ref, x: Any, w: Any, b: Any = None, *, kernel_shape: Any = None, group: Any = 1, **given: Any
) -> Any:
    """A convolution; its kernel's shape is that of its weight."""
    window = _window_of(x, w.shape[2:], **given)
    x, padding = _pad_unevenly(ref, x, window)
    named = {"stride": window.strides, "padding": padding, "dilation": window.dilations, "groups": group}
    return ref(f"conv{window.name}", x, w, b, **named)


def _translate_conv_transpose(
    ref: Ref, x: Any, w: Any, b: Any = None, *, kernel_shape: Any = None, output_padding: Any = None,
    output_shape: Any = None, auto_pad: Any = "NOTSET", group: Any = 1, **given: Any,
) -> Any:  # fmt: skip
    window = _window_of(x, w.shape[2:], **given)
    if len(window.kernel) > 2:
        raise NotTranslatable("three axes; ours has one or two")
    extra = output_padding or [0] * len(window.kernel)
    full = [
        s * (size - 1) + e + (k - 1) * d + 1
        for s, size, e, k, d in zip(window.strides, x.shape[2:], extra, window.kernel, window.dilations, strict=True)
    ]
    if output_shape is None and auto_pad.startswith("SAME"):
        output_shape = [size * s for size, s in zip(x.shape[2:], window.strides, strict=True)]
    before, after = window.before, window.after
    if output_shape is not None:
        before, after = _halve([f - o for f, o in zip(full, output_shape, strict=True)], auto_pad)
    named = {"stride": window.strides, "output_padding": tuple(extra), "groups": group, "dilation": window.dilations}
    y = ref(f"conv_transpose{window.name}", x, w, b, **named)
    return _pad_explicitly(ref, y, [-p for p in before], [-p for p in after])


def _translate_average_pool(
    ref: Ref, x: Any, *, kernel_shape: Any, ceil_mode: Any = 0, count_include_pad: Any = 0, **given: Any
) -> Any:
    window = _window_of(x, kernel_shape, **given)
    if set(window.dilations) != {1}:
        raise NotTranslatable("dilations")
    named = {"kernel_size": window.kernel, "stride": window.strides, "ceil_mode": bool(ceil_mode)}
    return ref(f"avg_pool{window.name}", x, padding=window.padding, count_include_pad=bool(count_include_pad), **named)


def _translate_max_pool(
    ref: Ref, x: Any, *, kernel_shape: Any, ceil_mode: Any = 0, storage_order: Any = 0, **given: Any
) -> Any:
    window = _window_of(x, kernel_shape, **given)
    named = {"kernel_size": window.kernel, "stride": window.strides, "dilation": window.dilations}
    y, within = ref(f"max_pool{window.name}", x, padding=window.padding, ceil_mode=bool(ceil_mode), **named)
    if storage_order:
        h, w = x.shape[2:]
        within = within % w * h + within // w
    planes = np.arange(math.prod(x.shape[:2])).reshape(*x.shape[:2], *[1] * len(window.kernel))
    return y, within + planes * math.prod(x.shape[2:])  # ONNX counts through the whole tensor


def _translate_lp_pool(ref: Ref, x: Any, *, kernel_shape: Any, p: Any = 2, **given: Any) -> Any:
    """A norm of windows; of other axes than two the root of a mean of powers, times the cells of a window."""
    if len(kernel_shape) == 2 and set(given.get("dilations") or [1]) == {1}:
        window = _window_of(x, kernel_shape, **{n: v for n, v in given.items() if n != "ceil_mode"})
        named = {"kernel_size": window.kernel, "stride": window.strides, "padding": window.padding}
        return ref("lp_pool2d", x, p=float(p), ceil_mode=bool(given.get("ceil_mode", 0)), **named)
    powers = ref("pow", ref("abs", x), np.full((), float(p)))
    means = _translate_average_pool(ref, powers, kernel_shape=kernel_shape, count_include_pad=1, **given)
    return ref("pow", ref("scale", means, s=float(math.prod(kernel_shape))), np.full((), 1 / p))


def _translate_max_unpool(
    ref: Ref, x: Any, indices: Any, shape: Any = None, *, kernel_shape: Any, strides: Any = None, pads: Any = None
) -> Any:
    n = len(kernel_shape)
    strides, edges = strides or [1] * n, to_numbers(pads) if pads else [0] * 2 * n
    sizes = zip(x.shape[2:], strides, kernel_shape, edges[:n], edges[n:], strict=True)
    own = (*x.shape[:2], *((m - 1) * s + k - a - b for m, s, k, a, b in sizes))
    whole = tuple(to_numbers(shape)) if shape is not None else own
    places = np.ravel_multi_index(np.unravel_index(np.ravel(indices), own), whole)
    flat = ref("scatter", np.zeros(math.prod(whole)), places, np.ravel(x), dim=0)
    return ref("reshape", flat, shape=whole)


def _translate_roi_align(
    ref: Ref,
    x: Any,
    rois: Any,
    batch: Any,
    *,
    mode: Any = "avg",
    output_height: Any = 1,
    output_width: Any = 1,
    sampling_ratio: Any = 0,
    spatial_scale: Any = 1.0,
    coordinate_transformation_mode: Any = "half_pixel",
) -> Any:
    if mode != "avg" or sampling_ratio == 0:
        raise NotTranslatable("the largest of the samples, or as many as the box is large")
    return ref(
        "roi_align",
        x,
        rois,
        batch,
        output_size=(output_height, output_width),
        spatial_scale=spatial_scale,
        sampling_ratio=sampling_ratio,
        aligned=coordinate_transformation_mode == "half_pixel",
    )


def _translate_deform_conv(
    ref: Ref, x: Any, w: Any, offset: Any, b: Any = None, mask: Any = None, *, kernel_shape: Any = None,
    group: Any = 1, offset_group: Any = 1, **given: Any,
) -> Any:  # fmt: skip
    window = _window_of(x, w.shape[2:], **given)
    x, padding = _pad_unevenly(ref, x, window)
    named = {"stride": window.strides, "padding": padding, "dilation": window.dilations}
    return ref("deform_conv2d", x, offset, w, b, mask, **named)


def _translate_affine_grid(ref: Ref, theta: Any, size: Any, *, align_corners: Any = 0) -> Any:
    return ref("affine_grid", theta, size=tuple(to_numbers(size)[2:]), align_corners=bool(align_corners))


def _translate_global(name: Any) -> Any:
    return lambda ref, x: ref(name, x, dim=tuple(range(2, x.ndim)), keepdim=True)


def _translate_global_average(ref: Ref, x: Any) -> Any:
    return ref("adaptive_avg_pool2d", x, output_size=1) if x.ndim == 4 else _translate_global("mean")(ref, x)


def _translate_col2im(ref: Ref, x: Any, image_shape: Any, block_shape: Any, **given: Any) -> Any:
    size, window = tuple(to_numbers(image_shape)), _window_of(x, to_numbers(block_shape), **given)
    if len(size) != 2:
        raise NotTranslatable("axes other than two")
    if window.before != window.after:
        raise NotTranslatable("uneven pads")
    named = {"dilation": window.dilations, "padding": tuple(window.before), "stride": window.strides}
    return ref("col2im", x, output_size=size, kernel_size=window.kernel, **named)


def _translate_grid_sample(
    ref: Ref, x: Any, grid: Any, *, align_corners: Any = 0, mode: Any = "linear", padding_mode: Any = "zeros"
) -> Any:
    if x.ndim != 4 or "cubic" in mode:
        raise NotTranslatable("volumes and cubics; ours reads planes, between four cells or at one")
    mode = mode if mode == "nearest" else "bilinear"
    return ref("grid_sample", x, grid, mode=mode, padding_mode=padding_mode, align_corners=bool(align_corners))


def _translate_upsample(ref: Ref, x: Any, scales: Any, *, mode: Any = "nearest") -> Any:
    size = tuple(int(n * s) for n, s in zip(x.shape[2:], scales[2:], strict=True))
    return ref("upsample_nearest" if mode == "nearest" else "upsample_bilinear", x, size=size)


def _translate_resize(
    ref: Ref,
    x: Any,
    roi: Any = None,
    scales: Any = None,
    sizes: Any = None,
    *,
    mode: Any = "nearest",
    coordinate_transformation_mode: Any = "half_pixel",
    nearest_mode: Any = "round_prefer_floor",
    cubic_coeff_a: Any = -0.75,
    exclude_outside: Any = 0,
    antialias: Any = 0,
    axes: Any = None,
    keep_aspect_ratio_policy: Any = "stretch",
    extrapolation_value: Any = 0.0,
) -> Any:
    if x.ndim != 4 or axes is not None or antialias or exclude_outside or keep_aspect_ratio_policy != "stretch":
        raise NotTranslatable("axes, antialias, exclude_outside or an aspect ratio policy")
    if scales is not None and scales.size:
        exact = [n * float(s) for n, s in zip(x.shape, scales, strict=True)]
        target = [math.floor(n) for n in exact]
        if exact != target:
            raise NotTranslatable("a scale that does not give a whole size; ours works from sizes")
    else:
        target = to_numbers(sizes)
    if tuple(target[:2]) != x.shape[:2]:
        raise NotTranslatable("axes other than height and width")
    how, size = coordinate_transformation_mode, tuple(target[2:])
    if mode == "nearest":
        if (how, nearest_mode) != ("asymmetric", "floor"):
            raise NotTranslatable(f"nearest by {how} and {nearest_mode}; ours is asymmetric and floor")
        return ref("upsample_nearest", x, size=size)
    if how not in ("half_pixel", "align_corners"):
        raise NotTranslatable(f"coordinates {how}")
    if mode == "cubic" and cubic_coeff_a != -0.75:
        raise NotTranslatable("a cubic coefficient other than -0.75")
    return ref(
        "upsample_bicubic" if mode == "cubic" else "upsample_bilinear",
        x,
        size=size,
        align_corners=how == "align_corners",
    )


WINDOWS: dict[str, Callable[..., Any]] = {
    "GridSample": _translate_grid_sample,
    "AffineGrid": _translate_affine_grid,
    "AveragePool": _translate_average_pool,
    "Col2Im": _translate_col2im,
    "Conv": translate_conv,
    "DeformConv": _translate_deform_conv,
    "ConvTranspose": _translate_conv_transpose,
    "GlobalAveragePool": _translate_global_average,
    "GlobalMaxPool": _translate_global("amax"),
    "LpPool": _translate_lp_pool,
    "MaxPool": _translate_max_pool,
    "MaxUnpool": _translate_max_unpool,
    "RoiAlign": _translate_roi_align,
    "Resize": _translate_resize,
    "Upsample": _translate_upsample,
}
