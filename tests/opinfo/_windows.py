"""Convolutions, pools, resized images, and Fourier transforms: calls of PyTorch as calls of ours.

`_table.py` says which entry is read by which of these.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from _oracle import Reading, unless
from _readers import T


def ssm_conv(
    x: T, weight: T, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Reading:
    plain = bias is None and _all(stride, 1) and _all(padding, 0) and _all(dilation, 1)
    unless(
        not plain or x.ndim != 3 or groups != x.shape[1] or weight.shape[0] != groups, "not one filter a channel alone"
    )
    return Reading("ssm_conv", (x, weight[:, 0]), {}, lambda y: (y.mT,))


def _all(value: Any, number: int) -> bool:
    return (
        value != "same"
        and value != "valid"
        and all(v == number for v in (value if isinstance(value, tuple | list) else (value,)))
    )


def _conv(operator: str, axes: int) -> Callable[..., Reading]:
    """A convolution; an image without a batch is a batch of one, padding by a word a number where both ends have it."""

    def read(
        x: T, weight: T, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
    ) -> Reading:
        alone = x.ndim == axes + 1
        params = {"stride": stride, "padding": _padding(weight, padding, dilation), "dilation": dilation}
        params = {n: v[0] if isinstance(v, tuple) and len(v) == 1 else v for n, v in params.items()}
        whole = x[None] if alone else x
        return Reading(
            operator, (whole, weight, bias), params | {"groups": groups}, lambda y: (y[None] if alone else y,)
        )

    return read


def _padding(weight: T, padding: Any, dilation: Any) -> Any:
    if not isinstance(padding, str):
        return padding
    if padding == "valid":
        return 0
    sizes = weight.shape[2:]
    dilations = dilation if isinstance(dilation, tuple | list) else (dilation,) * len(sizes)
    whole = [d * (n - 1) for d, n in zip(dilations, sizes, strict=True)]
    unless(any(n % 2 for n in whole), "padding that differs at both ends")
    return tuple(n // 2 for n in whole)


conv1d = _conv("conv1d", 1)
conv2d = _conv("conv2d", 2)
conv3d = _conv("conv3d", 3)


def _conv_transpose(operator: str, axes: int) -> Callable[..., Reading]:
    def read(
        x: T, weight: T, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
        groups: int = 1, dilation: Any = 1,
    ) -> Reading:  # fmt: skip
        alone = x.ndim == axes + 1
        params = {"stride": stride, "padding": padding, "output_padding": output_padding, "dilation": dilation}
        params = {n: v[0] if isinstance(v, tuple | list) and len(v) == 1 else v for n, v in params.items()}
        whole = x[None] if alone else x
        return Reading(
            operator, (whole, weight, bias), params | {"groups": groups}, lambda y: (y[None] if alone else y,)
        )

    return read


conv_transpose1d = _conv_transpose("conv_transpose1d", 1)
conv_transpose2d = _conv_transpose("conv_transpose2d", 2)


def depthwise(
    x: T, weight: T, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Reading:
    unless(x.ndim != 4 or groups != x.shape[1] or weight.shape[0] != groups, "not one filter a channel")
    unless(isinstance(padding, str), "padding by a word")
    return Reading("conv2d_depthwise", (x, weight, bias), {"stride": stride, "padding": padding, "dilation": dilation})


def _pooled(operator: str, axes: int, names: Sequence[str], indices: bool = False) -> Callable[..., Reading]:
    """A pool's parameters by their order in PyTorch; an image without a batch becomes a batch of one."""

    def read(x: T, *args: Any, **given: Any) -> Reading:
        params = dict(zip(names, args, strict=False)) | given
        wanted = bool(params.pop("return_indices", False))
        params = {n: (tuple(v) or None) if isinstance(v, list | tuple) else v for n, v in params.items()}
        params = {n: v[0] if isinstance(v, tuple) and len(v) == 1 else v for n, v in params.items()}
        alone = x.ndim == axes + 1
        whole = x[None] if alone else x

        def outputs(y: Any) -> tuple[Any, ...]:
            ys = y if wanted else (y,)
            return tuple(t[None] if alone else t for t in ys)

        return Reading(operator, (whole,), params, outputs)

    return read


_MAX = ("kernel_size", "stride", "padding", "dilation", "ceil_mode", "return_indices")
_MEAN = ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override")
max_pool1d = _pooled("max_pool1d", 1, _MAX)
max_pool2d = _pooled("max_pool2d", 2, _MAX)
max_pool3d = _pooled("max_pool3d", 3, _MAX)
avg_pool1d = _pooled("avg_pool1d", 1, _MEAN)
avg_pool2d = _pooled("avg_pool2d", 2, _MEAN)
avg_pool3d = _pooled("avg_pool3d", 3, _MEAN)


def adaptive_avg_pool1d(x: T, output_size: Any) -> Reading:
    size = output_size[0] if isinstance(output_size, tuple | list) else output_size
    whole = x if x.ndim == 3 else x[None]
    return Reading(
        "adaptive_avg_pool2d",
        (whole[:, :, None],),
        {"output_size": (1, whole.shape[-1] if size is None else size)},
        lambda y: ((y if x.ndim == 3 else y[None])[:, :, None],),
    )


def adaptive_avg_pool2d(x: T, output_size: Any) -> Reading:
    both = output_size if isinstance(output_size, tuple | list) else (output_size, output_size)
    size = tuple(n if o is None else o for n, o in zip(x.shape[-2:], both, strict=True))
    return Reading(
        "adaptive_avg_pool2d",
        (x if x.ndim == 4 else x[None],),
        {"output_size": size},
        lambda y: (y if x.ndim == 4 else y[None],),
    )


def im2col(x: T, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Reading:
    params = {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride}
    return Reading("im2col", (x if x.ndim == 4 else x[None],), params, lambda y: (y if x.ndim == 4 else y[None],))


def interpolate(
    x: T, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: Any = None,
    recompute_scale_factor: Any = None, antialias: bool = False,
) -> Reading:  # fmt: skip
    unless(antialias, "antialiasing")
    axes = x.ndim - 2
    unless(axes not in (1, 2), "three axes")
    whole = x if axes == 2 else x[:, :, None]
    if size is not None:
        out = tuple(size) if isinstance(size, tuple | list) else (size,) * axes
    else:
        factors = tuple(scale_factor) if isinstance(scale_factor, tuple | list) else (scale_factor,) * axes
        out = tuple(math.floor(n * f) for n, f in zip(x.shape[2:], factors, strict=True))
        unless(
            any(o != n * f for o, n, f in zip(out, x.shape[2:], factors, strict=True)) and not recompute_scale_factor,
            "a scale that is not the ratio of the sizes",
        )
    params: dict[str, Any] = {"size": out if axes == 2 else (1, *out)}
    if mode == "area":
        pooled = {"output_size": params["size"]}
        return Reading("adaptive_avg_pool2d", (whole,), pooled, lambda y: (y if axes == 2 else y[:, :, None],))
    operator = {"nearest": "nearest", "bilinear": "bilinear", "linear": "bilinear", "bicubic": "bicubic"}.get(mode)
    unless(operator is None, f"mode {mode}")
    unless(operator == "bicubic" and axes == 1, "one axis")
    if operator != "nearest":
        params["align_corners"] = bool(align_corners)
    return Reading(f"upsample_{operator}", (whole,), params, lambda y: (y if axes == 2 else y[:, :, None],))


def upsample_nearest(x: T, size: Any = None, scale_factor: Any = None) -> Reading:
    return interpolate(x, size, scale_factor)


def upsample_bilinear(x: T, size: Any = None, scale_factor: Any = None) -> Reading:
    return interpolate(x, size, scale_factor, "bilinear", True)


def grid_sampler_2d(x: T, grid: T, mode: int, padding_mode: int, align_corners: bool) -> Reading:
    params = {
        "mode": ("bilinear", "nearest", "bicubic")[mode],
        "padding_mode": ("zeros", "border", "reflection")[padding_mode],
        "align_corners": align_corners,
    }
    unless(mode == 2, "bicubic")
    return Reading("grid_sample", (x, grid), params)


def _planes(y: Any) -> tuple[Any, ...]:
    return (y.real, y.imag if y.is_complex() else torch.zeros_like(y))


def stft(
    x: T, n_fft: int, hop_length: Any = None, win_length: Any = None, window: Any = None, center: bool = False,
    pad_mode: str = "reflect", normalized: bool = False, onesided: Any = None, return_complex: Any = None,
    align_to_window: Any = None,
) -> Reading:  # fmt: skip
    unless(normalized or onesided is False or not return_complex, "normalised, two-sided or as pairs")
    unless(window is None or window.is_complex() or window.shape[0] != n_fft, "another window than n_fft long")
    unless(center and pad_mode != "reflect", "padding other than by reflection")
    whole = x if x.ndim == 2 else x[None]
    params = {"n_fft": n_fft, "hop_length": n_fft // 4 if hop_length is None else hop_length, "center": center}
    return Reading("stft", (whole, window), params, lambda y: _planes(y if x.ndim == 2 else y[None]))


def _resized(x: T, n: Any, dim: int) -> T:
    """The signal cut, or with zeros behind it, as PyTorch's `n` says."""
    if n is None or n == x.shape[dim]:
        return x
    if n < x.shape[dim]:
        return x.narrow(dim, 0, n)
    zeros = x.new_zeros([n - x.shape[dim] if i == dim % x.ndim else s for i, s in enumerate(x.shape)])
    return torch.cat([x, zeros], dim)


def fft(*, inverse: bool) -> Callable[..., Reading]:
    def read(x: T, n: Any = None, dim: int = -1, norm: Any = None) -> Reading:
        x = _resized(x, n, dim)
        params = {"dim": dim, "norm": norm or "backward", "inverse": inverse}
        return Reading("fft", (x, torch.zeros_like(x)), params, _planes)

    return read


def rfft(x: T, n: Any = None, dim: int = -1, norm: Any = None) -> Reading:
    return Reading("rfft", (_resized(x, n, dim),), {"dim": dim, "norm": norm or "backward"}, _planes)


def ihfft(x: T, n: Any = None, dim: int = -1, norm: Any = None) -> Reading:
    """The conjugate of rfft, divided the other way."""
    other = {"backward": "forward", "forward": "backward", "ortho": "ortho"}[norm or "backward"]
    return Reading("rfft", (_resized(x, n, dim),), {"dim": dim, "norm": other}, lambda y: (y.real, -y.imag))


def _one_axis(x: T, s: Any, dim: Any) -> tuple[Any, int]:
    dims = [dim] if isinstance(dim, int) else dim
    if dims is None:
        dims = [*range(-len(s), 0)] if s is not None else [*range(-x.ndim, 0)]
    unless(len(dims) != 1, "several axes")
    return (None if s is None else (s[0] if isinstance(s, tuple | list) else s)), dims[0]


def fftn(*, inverse: bool) -> Callable[..., Reading]:
    def read(x: T, s: Any = None, dim: Any = None, norm: Any = None) -> Reading:
        return fft(inverse=inverse)(x, *_one_axis(x, s, dim), norm)

    return read


def rfftn(x: T, s: Any = None, dim: Any = None, norm: Any = None) -> Reading:
    return rfft(x, *_one_axis(x, s, dim), norm)


def fftshift(x: T, dim: Any = None) -> Reading:
    return _shifted(x, dim, 1)


def ifftshift(x: T, dim: Any = None) -> Reading:
    return _shifted(x, dim, -1)


def _shifted(x: T, dim: Any, sign: int) -> Reading:
    dims = tuple(range(x.ndim)) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    shifts = tuple(x.shape[d] // 2 if sign > 0 else (x.shape[d] + 1) // 2 for d in dims)
    return Reading("roll", (x,), {"shifts": shifts, "dims": dims})
