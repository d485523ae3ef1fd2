"""Fused operators, which PyTorch has no function of: what it computes for a sample, put together by its own functions.

A gate is drawn beside the sample, and its gradient is compared too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from _oracle import Reading, unless
from _readers import T
from torch.nn import functional


def gated(operator: str, approximate: str | None = None) -> Callable[..., Reading]:
    """The activation of the sample times a gate."""

    def read(x: T, **given: Any) -> Reading:
        unless(approximate is not None and given.get("approximate", "none") != approximate, "the other gelu")
        unless(x.dtype != torch.float64 or not x.ndim, "no row of floats")
        gate = torch.randn(x.shape, dtype=x.dtype, requires_grad=x.requires_grad)
        return Reading(operator, (x, gate), {}, lambda y: (y * gate,))

    return read


def relu2(x: T) -> Reading:
    unless(x.dtype != torch.float64, "integers")
    return Reading("relu2", (x,), {}, lambda y: (y * y,))


def gelu_quick(x: T, **_: Any) -> Reading:
    """x' sigmoid(1.702 x') is silu(1.702 x') / 1.702."""
    return Reading("gelu_quick", (x / 1.702,), {}, lambda y: (y / 1.702,))


def geglu_quick(x: T, **_: Any) -> Reading:
    unless(not x.ndim, "no row")
    gate = torch.randn(x.shape, dtype=x.dtype, requires_grad=x.requires_grad)
    return Reading("geglu_quick", (x / 1.702, gate), {}, lambda y: (y / 1.702 * gate,))


def linear_gated(operator: str, activation: Callable[[T], T]) -> Callable[..., Reading]:
    """The sample's product, through an activation, times itself."""

    def read(x: T, weight: T, bias: Any = None) -> Reading:
        unless(bias is not None or weight.ndim != 2, "a bias, or a vector")
        return Reading(operator, (x, weight, weight), {}, lambda y: (activation(y) * y,))

    return read


linear_swiglu = linear_gated("linear_swiglu", functional.silu)
linear_geglu = linear_gated("linear_geglu", functional.gelu)


def add_rms_norm(x: T, normalized_shape: Any, weight: Any = None, eps: Any = None) -> Reading:
    """x as the sum of two."""
    unless(weight is None or len(normalized_shape) != 1, "no weight, or several axes")
    residual = torch.randn(x.shape, dtype=x.dtype)
    params = {"eps": torch.finfo(x.dtype).eps if eps is None else eps}
    return Reading("add_rms_norm", (x - residual, residual, weight), params, lambda y: (y, x * 1))


def rms_norm_mul_add(x: T, normalized_shape: Any, weight: Any = None, eps: Any = None) -> Reading:
    unless(weight is None or len(normalized_shape) != 1, "no weight, or several axes")
    residual = torch.randn(x.shape, dtype=x.dtype, requires_grad=x.requires_grad)
    params = {"eps": torch.finfo(x.dtype).eps if eps is None else eps}
    return Reading("rms_norm_mul_add", (x, weight, residual), params, lambda y: (y + residual,))


def diag_mask_inf(x: T, diagonal: int = 0) -> Reading:
    """The lower triangle, with -inf for its zeros."""
    unless(diagonal < 0, "a diagonal below the first")
    hole = torch.ones(x.shape, dtype=torch.bool).tril(diagonal)
    return Reading("diag_mask_inf", (x,), {"n_past": diagonal}, lambda y: (y.masked_fill(~hole, -torch.inf),))


def add_id(weight: T, indices: T, **given: Any) -> Reading:
    """The rows, added to others."""
    unless(given or indices.ndim != 2, "options, or no matrix of indices")
    a = torch.randn((*indices.shape, weight.shape[1]), dtype=weight.dtype, requires_grad=weight.requires_grad)
    return Reading("add_id", (a, weight, indices), {}, lambda y: (a + y,))


def paged_attention(
    q: T, k: T, v: T, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False, scale: Any = None,
    enable_gqa: bool = False,
) -> Reading:  # fmt: skip
    """Every query is a sequence whose one block is its batch's keys."""
    unless(dropout_p or attn_mask is not None or is_causal, "a mask or dropout")
    unless(q.ndim != 4 or k.ndim != 4, "no batch")
    n, heads, count, e = q.shape
    queries = q.transpose(1, 2).reshape(n * count, heads, e)
    tables = torch.arange(n).repeat_interleave(count)[:, None]
    lengths = torch.full((n * count,), k.shape[2])
    tensors = (queries, k.transpose(1, 2), v.transpose(1, 2), tables, lengths)
    return Reading(
        "paged_attention", tensors, {"scale": scale}, lambda y: (y.transpose(1, 2).reshape(n * count, heads, -1),)
    )
