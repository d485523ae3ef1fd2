"""What Aidge's CPU kernels compute where they are known to fail: see known.toml."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from opproof.backends.causes import cut_off, multiply_in_turn, store_as
from opproof.reference_ops._arrays import unbroadcast
from opproof.reference_ops._axes import Dim, axes
from opproof.reference_ops._conv import Geometry, geometry, transposed_size
from opproof.reference_ops._norm import affine
from opproof.reference_ops._pool import max_pool, pool
from opproof.reference_ops._windows import Sizes, columns, padded, per_axis, unpadded

#: The span of a kernel, along both axes, for which Conv2D has a kernel of its own.
SPECIAL_SPAN = 3


def normalise_each_alone(
    x: Any, weight: Any = None, bias: Any = None, *, normalized_shape: tuple[int, ...], eps: float
) -> Any:
    """Take each element for a row of its own, which is 0, and add the first number of the bias."""
    return np.zeros(x.shape, like=x) + (0 if bias is None else np.reshape(bias, (-1,))[0])


def normalises_all_axes(question: Any) -> bool:
    """Whether no axis is left that numbers rows."""
    return bool(len(question.params["normalized_shape"]) == question.inputs[0].ndim)


def divide_by_one_plus_square_of_y(g: Any, y: Any, x: Any) -> Any:
    """Take 1 / (1 + y^2), y the output, for the derivative."""
    return g / (1 + y * y)


def take_slope_everywhere(g: Any, y: Any, x: Any, *, negative_slope: float) -> Any:
    """Multiply by the slope, a float32, where x is positive too."""
    return g * store_as(negative_slope, "f32")


def smooth_step(g: Any, y: Any, x: Any) -> Any:
    """Take the derivative of atan(pi x) / pi for that of a step."""
    return g / (1 + np.square(np.pi * x))


def multiply_by_log_of_zero(g: Any, y: Any, a: Any, b: Any = None, *, exponent: float | None) -> Any:
    """Multiply y by log(a) at a = 0 too: 0 times infinity."""
    power: Any = exponent if b is None else b
    da = unbroadcast(g * power * a ** (power - 1), a.shape)
    return (da,) if b is None else (da, unbroadcast(g * y * np.log(a), b.shape))


def take_running_moments(
    x: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
    *, training: bool, eps: float,
) -> Any:  # fmt: skip
    """Standardise by the moments before the update, 0 and 1."""
    return affine(x / np.sqrt(1 + eps), weight, bias)


def pass_over_nan(x: Any, *, dim: Dim, keepdim: bool) -> Any:
    """Take the maximum by comparisons, which keep a NaN that comes first and no other."""
    return _take_last_chosen(x, dim, keepdim, 1)


def pass_over_nan_of_minimum(x: Any, *, dim: Dim, keepdim: bool) -> Any:
    """Take the minimum by comparisons, which keep a NaN that comes first and no other."""
    return _take_last_chosen(x, dim, keepdim, -1)


def _take_last_chosen(x: Any, dim: Dim, keepdim: bool, sign: int) -> Any:
    y, gone = x, axes(dim, x.ndim)
    for a in gone:
        first = np.take(y, [0], axis=a)
        largest = sign * np.max(np.where(np.isnan(y), -np.inf, sign * y), axis=a, keepdims=True)
        y = np.where(np.isnan(first), np.nan, largest)
    return y if keepdim else np.squeeze(y, axis=gone)


def pass_over_nan_in_windows(
    x: Any, *, kernel_size: Sizes, stride: Sizes | None, padding: Sizes, dilation: Sizes, ceil_mode: bool
) -> tuple[Any, Any]:
    """Take the maximum of each window by comparisons, which keep a NaN that comes first and no other."""
    size = x.shape[2:]
    how = pool(size, kernel_size, stride, padding, ceil_mode, dilation)
    y, indices = max_pool(np.where(np.isnan(x), -np.inf, x), how)
    begins: Any = (..., *(slice(0, s * (o - 1) + 1, s) for s, o in zip(how.stride, how.out, strict=True)))
    first = padded(x, how.padding, how.after)[begins]
    place = padded(np.arange(math.prod(size)).reshape(size), how.padding, how.after)[begins]
    return np.where(np.isnan(first), np.nan, y), np.where(np.isnan(first), place, indices)


def keep_first_unless_less(a: Any, b: Any) -> Any:
    """Take the second where it is the larger, which no comparison with NaN says."""
    return np.where(b > a, b, a)


def correct_mean_by_each(x: Any, *, dim: Dim, keepdim: bool) -> Any:
    """Move the mean by (x - mean) / n at each element: infinity minus infinity after the first."""
    y, gone = x, axes(dim, x.ndim)
    for a in gone:
        mean = np.take(y, [0], axis=a)
        mean = mean + (mean - mean)  # from a mean of 0, then corrected by x - mean
        for n in range(1, y.shape[a]):
            mean = mean + (np.take(y, [n], axis=a) - mean) / (n + 1)
        y = mean
    return y if keepdim else np.squeeze(y, axis=gone)


def cut_digits_off(x: Any, *, to: str) -> Any:
    """Cut off the digits that the format lacks."""
    return cut_off(x, to)


def _make_matrices(x: Any, weight: Any, how: Geometry) -> tuple[Any, Any, tuple[int, ...]]:
    """The weights (groups, o, c * kernel), the windows (n, groups, c * kernel, out), and the shape of out."""
    o, per_group, *kernel = weight.shape
    cols = columns(x, tuple(kernel), how.stride, how.dilation)
    out, terms = cols.shape[2 + len(kernel) :], per_group * math.prod(kernel)
    w = np.reshape(weight, (how.groups, o // how.groups, terms))
    return w, np.reshape(cols, (x.shape[0], how.groups, terms, math.prod(out))), out


def _compute_conv(x: Any, weight: Any, bias: Any, how: Geometry, step: int) -> Any:
    """A convolution of an x that is padded, added up from the bias on."""
    o = weight.shape[0]
    w, cols, out = _make_matrices(x, weight, how)
    first = 0 if bias is None else np.reshape(bias, (how.groups, o // how.groups, 1))
    return np.reshape(multiply_in_turn(w, cols, first, step), (x.shape[0], o, *out))


def _add_windows(x: Any, weight: Any, bias: Any, size: tuple[int, ...], how: Geometry) -> Any:
    """What `x` sends through the weights (c, o, *kernel) to `size` cells, added up from the first window on."""
    rank, kernel = len(size), weight.shape[2:]
    spread = tuple(s * (n - 1) + 1 for s, n in zip(how.stride, x.shape[2:], strict=True))
    wide = np.zeros((*x.shape[:2], *spread), dtype=x.dtype, like=x)
    every: Any = (..., *(slice(None, None, s) for s in how.stride))
    wide[every] = x
    before = tuple(d * (k - 1) for d, k in zip(how.dilation, kernel, strict=True))
    after = tuple(n + 2 * p - s for n, p, s in zip(size, how.padding, spread, strict=True))
    turned = np.flip(weight, axis=tuple(range(2, rank + 2)))
    g = how.groups
    grouped = np.reshape(turned, (g, weight.shape[0] // g, *weight.shape[1:]))
    swapped = np.reshape(np.swapaxes(grouped, 1, 2), (g * weight.shape[1], weight.shape[0] // g, *kernel))
    once = Geometry((1,) * rank, how.padding, how.dilation, g)
    return unpadded(_compute_conv(padded(wide, before, after), swapped, bias, once, 1), how.padding, size)


def _geometry_of(x: Any, params: dict[str, Any]) -> Geometry:
    return geometry(x.ndim - 2, *(params[n] for n in ("stride", "padding", "dilation", "groups")))


def truncate_each_addition(x: Any, weight: Any, bias: Any = None, **params: Any) -> Any:
    """Add every product to the output; of a kernel of 3 x 3 the three of a row at once."""
    how = _geometry_of(x, params)
    step = SPECIAL_SPAN if weight.shape[2:] == (SPECIAL_SPAN,) * 2 and how.dilation == (1, 1) else 1
    return _compute_conv(padded(x, how.padding, how.padding), weight, bias, how, step)


def truncate_each_addition_of_gradient(g: Any, y: Any, x: Any, weight: Any, bias: Any = None, **params: Any) -> Any:
    """Add every product to the gradient."""
    how = _geometry_of(x, params)
    groups, o = how.groups, weight.shape[0]
    _, cols, _ = _make_matrices(padded(x, how.padding, how.padding), weight, how)
    by_group = np.reshape(g, (g.shape[0], groups, o // groups, -1))
    left = np.reshape(np.moveaxis(by_group, 0, 2), (groups, o // groups, -1))
    right = np.reshape(np.transpose(cols, (1, 0, 3, 2)), (groups, -1, cols.shape[2]))
    dweight = np.reshape(multiply_in_turn(left, right, 0), weight.shape)
    rows = np.reshape(np.moveaxis(g, 1, -1), (-1, o))
    dbias = None if bias is None else multiply_in_turn(np.ones((len(rows),)), rows, 0)
    return _add_windows(g, weight, None, x.shape[2:], how), dweight, dbias


def pad_result_with_zeros(x: Any, weight: Any, bias: Any = None, *, output_padding: Sizes, **params: Any) -> Any:
    """Add every product to the output, and behind what windows reach put zeros, where the bias belongs."""
    how = _geometry_of(x, params)
    rank = x.ndim - 2
    size = transposed_size(x.shape[2:], weight.shape[2:], how, per_axis(output_padding, rank))
    ends = transposed_size(x.shape[2:], weight.shape[2:], replace(how, padding=(0,) * rank), (0,) * rank)
    reached = np.ones(size, dtype=bool)
    for a, (end, p) in enumerate(zip(ends, how.padding, strict=True)):
        reached &= np.reshape(np.arange(size[a]) < end - p, (-1, *(1,) * (rank - 1 - a)))
    return np.where(reached, _add_windows(x, weight, bias, size, how), 0.0)


def read_nine_weights(x: Any, weight: Any, bias: Any = None, *, groups: int | None = None, **params: Any) -> Any:
    """Take nine numbers in memory for the kernel of each channel."""
    o, c = weight.shape[:2]
    flat = np.reshape(weight, (-1,))
    rest = np.zeros(9 * o * c - weight.size, dtype=x.dtype, like=x)
    nine = np.reshape(np.concatenate([flat, rest]), (o, c, SPECIAL_SPAN, SPECIAL_SPAN))
    how = geometry(2, params["stride"], params["padding"], 1, x.shape[1] if groups is None else groups)
    return _compute_conv(padded(x, how.padding, how.padding), nine, bias, how, SPECIAL_SPAN)


def channels_past_the_weights(question: Any) -> Any:
    """Channels of the result whose nine weights are not all of the tensor's."""
    weight = question.inputs[1]
    past = (np.arange(weight.shape[0]) + 1) * 9 * weight.shape[1] > weight.size
    return [np.broadcast_to(past[:, None, None], y.shape) for y in question.outputs]


def is_taken_for_three_by_three(question: Any) -> bool:
    """Whether a dilated kernel spans 3 x 3 cells."""
    kernel, dilation = question.inputs[1].shape[2:], per_axis(question.params["dilation"], 2)
    spans = tuple(d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True))
    return spans == (SPECIAL_SPAN,) * 2 and kernel != spans


def wrap_whole_axis(x: Any, *, pad: Sequence[int], mode: str, value: float | None) -> Any:
    """Wrap around the axis as it is, not as it is cut."""
    y = x
    for i, (before, after) in enumerate(zip(pad[::2], pad[1::2], strict=True)):
        axis = x.ndim - 1 - i
        y = np.take(y, np.arange(-before, x.shape[axis] + after) % x.shape[axis], axis=axis)
    return y


def count_cells_through(g: Any, y: Any, x: Any, *, pad: Sequence[int], mode: str, value: float | None) -> Any:
    """Add to the cell that a counter points at, which is not moved on where an axis is cut behind and grows before."""
    places = np.array(_places_of(x.shape, g.shape, pad, mode))
    valid = (places >= 0) & (places < x.size)
    dx = np.zeros((x.size,), dtype=g.dtype, like=g)
    np.add.at(dx, places[valid], np.reshape(g, (-1,))[valid])
    return np.reshape(dx, x.shape)


def _places_of(shape: tuple[int, ...], wide: tuple[int, ...], pad: Sequence[int], mode: str) -> list[int]:
    """Where PadImpl_kernels.hpp, its backward, puts each element of the cotangent, flat; -1 for nowhere."""
    rank, strides = len(shape), [math.prod(shape[a + 1 :]) for a in range(len(shape))]
    before, after = [0] * rank, [0] * rank
    for i, (b, a) in enumerate(zip(pad[::2], pad[1::2], strict=True)):
        before[rank - 1 - i], after[rank - 1 - i] = b, a
    outside = [b > 0 for b in before]
    counter = sum(max(-b, 0) * s for b, s in zip(before, strides, strict=True))
    inside, places = [0] * rank, []
    for index in itertools.product(*map(range, wide)):
        if any(outside):
            cells = [i - b for i, b in zip(index, before, strict=True)]
            if mode == "replicate":
                cells = list(inside)
            elif mode == "circular":
                cells = [c % n for c, n in zip(cells, shape, strict=True)]
            shown = sum(c * s for c, s in zip(cells, strides, strict=True))
            places.append(-1 if mode == "constant" else shown)
        else:
            places.append(counter)
            counter += 1
        for d in reversed(range(rank)):
            cell = index[d] + 1 - before[d]
            outside[d] = not 0 <= cell < shape[d]
            inside[d] += not outside[d] and cell > 0
            if index[d] + 1 < wide[d]:
                break
            inside[d], outside[d] = 0, before[d] > 0
            if before[d] <= 0:
                counter += (max(-after[d], 0) - before[d]) * strides[d]
    return places


def grows_and_shrinks(question: Any) -> bool:
    """Whether padding adds cells somewhere and takes cells away elsewhere."""
    return bool(min(question.params["pad"]) < 0 < max(question.params["pad"]))


def has_window_in_far_padding(question: Any) -> bool:
    """Whether, with ceil_mode, a window would begin behind the tensor."""
    p, size = question.params, question.inputs[0].shape[2:]
    how = pool(size, p["kernel_size"], p["stride"], p["padding"], p["ceil_mode"], p.get("dilation", 1))
    ends = zip(size, how.out, how.stride, how.kernel, how.dilation, how.padding, how.far, strict=True)
    return p["ceil_mode"] and any(n + b + f - d * (k - 1) - 1 > s * (o - 1) for n, o, s, k, d, b, f in ends)


def has_overlapping_windows(question: Any) -> bool:
    """Whether windows reach into each other."""
    names = ("output_size", "kernel_size", "stride", "dilation")
    each = zip(*(per_axis(question.params[n], 2) for n in names), strict=True)
    ends = [(d * (k - 1) + 1, size, s) for size, k, s, d in each]
    return any(e > s for e, _, s in ends) and any(size - e >= s for e, size, s in ends)
