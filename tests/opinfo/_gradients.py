"""Operators that are the gradient of another one: held against what PyTorch's autograd makes of that one's samples.

Their own gradients are held against autograd's of the gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from _oracle import Reader, Reading, unless

T = torch.Tensor


def _backward(y: T, x: T) -> tuple[T, Callable[[Any], tuple[Any, ...]]]:
    """A cotangent of y, and what makes of it the gradient of x."""
    unless(not x.requires_grad or not y.requires_grad, "no gradient is asked for")
    g = torch.randn(y.shape, dtype=y.dtype, requires_grad=True)

    def made(_: Any) -> tuple[Any, ...]:
        (gradient,) = torch.autograd.grad(y, x, g, create_graph=True, allow_unused=True)
        return (torch.zeros_like(x) if gradient is None else gradient,)

    return g, made


def of_silu(function: Any, sample: Any, y: T) -> Reading:
    g, made = _backward(y, sample.input)
    return Reading("silu_back", (g, sample.input), {}, made)


def of_rms_norm(function: Any, sample: Any, y: T) -> Reading:
    x, shape, weight = sample.input, *sample.args[:2], *(None,) * (2 - len(sample.args))
    weight = sample.kwargs.get("weight", weight)
    eps = sample.kwargs.get("eps", sample.args[2] if len(sample.args) > 2 else None)
    unless(weight is not None or len(shape) != 1, "a weight, or several axes")
    g, made = _backward(y, x)
    return Reading("rms_norm_back", (g, x), {"eps": torch.finfo(x.dtype).eps if eps is None else eps}, made)


def of_cross_entropy(function: Any, sample: Any, y: T) -> Reading:
    x, target = sample.input, sample.args[0]
    unless(sample.kwargs or x.ndim != 2 or not target.is_floating_point(), "no matrix, class indices, or options")
    unless(
        not torch.allclose(target.sum(-1), torch.ones(len(target), dtype=target.dtype)),
        "shares that are no probabilities",
    )
    g, made = _backward(y, x)
    return Reading("cross_entropy_loss_back", (g, x, target), {}, made)


def of_embedding(function: Any, sample: Any, y: T) -> Reading:
    weight, indices = sample.input, sample.args[0]
    unless(sample.kwargs, "options")
    g, made = _backward(y, weight)
    rows = g.reshape(-1, weight.shape[1])
    return Reading("get_rows_back", (rows, indices.reshape(-1)), {"num_rows": weight.shape[0]}, made)


def of_expand(function: Any, sample: Any, y: T) -> Reading:
    return _summed(sample.input, y)


def of_repeat(function: Any, sample: Any, y: T) -> Reading:
    return _summed(sample.input, y)


def _summed(x: T, y: T) -> Reading:
    unless(x.ndim != y.ndim or not x.numel() or not y.numel(), "new axes, or no element")
    g, made = _backward(y, x)
    return Reading("repeat_back", (g,), {"shape": tuple(x.shape)}, made)


def of_unfold_as(operator: str) -> Reader:
    """The gradient of a convolution's columns, by one of the operators that fold them."""

    def read(function: Any, sample: Any, y: T) -> Reading:
        x = sample.input
        unless(x.ndim != 4, "no batch")
        names = ("kernel_size", "dilation", "padding", "stride")
        params = {"dilation": 1, "padding": 0, "stride": 1}
        params |= dict(zip(names, sample.args, strict=False)) | sample.kwargs
        g, made = _backward(y, x)
        size = tuple(x.shape[2:])
        if operator == "col2im":
            return Reading(operator, (g,), {**params, "output_size": size}, made)
        windows = [_windows(axis, n, params) for axis, n in enumerate(size)]
        laid = g.mT.reshape(x.shape[0], *windows, y.shape[1])  # the windows in their places, as ggml has them
        return Reading(operator, (laid,), {**params, "size": size}, made)

    return read


def _windows(axis: int, size: int, params: dict[str, Any]) -> int:
    names = ("kernel_size", "dilation", "padding", "stride")
    given = (params[n] for n in names)
    kernel, dilation, padding, stride = (v if isinstance(v, int) else v[axis] for v in given)
    return int((size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1)


def of_max_pool2d(function: Any, sample: Any, y: Any) -> Reading:
    params = dict(sample.kwargs)
    unless(params.get("return_indices") or params.get("ceil_mode"), "indices, or windows that hang over")
    unless(params.get("dilation", 1) not in (1, (1, 1)), "dilated windows")
    return _pooled("max", sample, y, params)


def of_avg_pool2d(function: Any, sample: Any, y: T) -> Reading:
    names = ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override")
    params = dict(zip(names, sample.args, strict=False)) | sample.kwargs
    unless(params.get("ceil_mode") or not params.get("count_include_pad", True), "windows that hang over, or fewer")
    unless(params.get("divisor_override") is not None, "another divisor")
    return _pooled("avg", sample, y, params)


def _pooled(op: str, sample: Any, y: T, params: dict[str, Any]) -> Reading:
    x = sample.input
    unless(x.ndim != 4, "no batch")
    g, made = _backward(y, x)
    given = {n: params[n] for n in ("kernel_size", "stride", "padding") if n in params}
    given = {n: (tuple(v) or None) if isinstance(v, list | tuple) else v for n, v in given.items()}
    return Reading("pool_2d_back", (g, x), {"op": op, **given}, made)
