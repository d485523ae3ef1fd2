"""Products, attention, normalisations, losses, and what is drawn: calls of PyTorch as calls of ours.

`_table.py` says which entry is read by which of these.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from _oracle import Reading, unless
from _readers import T, first

# Products


def einsum(operands: Any, equation: str | None = None) -> Reading:
    equation, operands = (operands, equation) if isinstance(operands, str) else (equation, operands)
    unless(not isinstance(operands, list | tuple) or len(operands) != 2, "not two tensors")
    unless("." in str(equation) or "->" not in str(equation), "an equation without a result, or with ...")
    text = str(equation).replace(" ", "")
    left, _, result = text.partition("->")
    a, b = left.split(",")
    twice = any(len(set(t)) < len(t) for t in (a, b, result))
    alone = set(a) - set(b) - set(result) or set(b) - set(a) - set(result)
    unless(twice or alone, "an index twice, or in one tensor alone")
    return Reading("einsum", tuple(operands), {"equation": text})


def tensordot(a: T, b: T, dims: Any = 2) -> Reading:
    first, second = (range(a.ndim - dims, a.ndim), range(dims)) if isinstance(dims, int) else ([*dims[0]], [*dims[1]])
    unless(any(a.shape[i] != b.shape[j] for i, j in zip(first, second, strict=True)), "axes that broadcast")
    letters = "abcdefghijkl"
    left = [*letters[: a.ndim]]
    right = [*letters[a.ndim : a.ndim + b.ndim]]
    for i, j in zip(first, second, strict=True):
        right[j] = left[i]
    result = [x for x in [*left, *right] if not (x in left and x in right)]
    return Reading("einsum", (a, b), {"equation": f"{''.join(left)},{''.join(right)}->{''.join(result)}"})


def vecdot(a: T, b: T, *, dim: int = -1) -> Reading:
    return Reading("sum", (a * b,), {"dim": dim})


def addmv(x: T, a: T, b: T, *, beta: Any = 1, alpha: Any = 1) -> Reading:
    whole = x.expand(a.shape[:1])
    return Reading("addmv", (whole, a, b), {"beta": float(beta), "alpha": float(alpha)})


def inner(a: T, b: T) -> Reading:
    if not (a.ndim and b.ndim):
        return Reading("mul", (a, b))
    return Reading("dot", (a, b)) if a.ndim == b.ndim == 1 else Reading("linear", (a, b, None))


def multi_dot(tensors: Sequence[T]) -> Reading:
    unless(len(tensors) != 2, "not two matrices")
    return Reading("matmul", tuple(tensors))


def matrix_power(x: T, n: int) -> Reading:
    unless(n not in (-1, 2), "neither a square nor an inverse")
    return Reading("inverse", (x,)) if n == -1 else Reading("matmul", (x, x))


def inv_ex(x: T, *, check_errors: bool = False) -> Reading:
    return Reading("inverse", (x,), {}, first)


def cholesky(x: T, upper: bool = False) -> Reading:
    return Reading("cholesky", (x.mT if upper else x,), {}, lambda y: (y.mT if upper else y,))


def cholesky_ex(x: T, *, upper: bool = False, check_errors: bool = False) -> Reading:
    return Reading("cholesky", (x,), {}, lambda y: (y[0].mT if upper else y[0],))


def triangular_solve(b: T, a: T, upper: bool = True, transpose: bool = False, unitriangular: bool = False) -> Reading:
    return Reading(
        "solve_triangular",
        (a.mT if transpose else a, b),
        {"upper": upper != transpose, "unitriangular": unitriangular},
        first,
    )


def addr(x: T, a: T, b: T, *, beta: Any = 1, alpha: Any = 1) -> Reading:
    unless(x.dtype != torch.float64, "integers")
    return Reading("addmm", (x, a[:, None], b[None]), {"beta": float(beta), "alpha": float(alpha)})


def mul_mat_id(a: T, b: T) -> Reading:
    """The experts are the batch, each chosen by the tokens that are its columns."""
    n, _, columns = b.shape
    ids = torch.arange(n).repeat_interleave(columns)[:, None]
    tokens = b.mT.reshape(n * columns, 1, -1)
    return Reading("mul_mat_id", (a, tokens, ids), {}, lambda y: (y.mT.reshape(n * columns, 1, -1),))


def attention(
    q: T, k: T, v: T, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False, scale: Any = None,
    enable_gqa: bool = False,
) -> Reading:  # fmt: skip
    unless(dropout_p, "dropout")
    unless(q.ndim < 3, "no batch")
    unless(q.shape[:-3] != k.shape[:-3], "batches that broadcast")
    whole = [t if t.ndim == 4 else t.reshape(-1 if t.ndim > 4 else 1, *t.shape[-3:]) for t in (q, k, v)]
    floats = attn_mask is not None and attn_mask.is_floating_point()
    mask = None if attn_mask is None else _four(attn_mask)
    params = {"is_causal": is_causal, "scale": scale, "enable_gqa": enable_gqa}
    tensors = (*whole, mask if floats else None, None if floats else mask, None)
    return Reading("scaled_dot_product_attention", tensors, params, lambda y: (y.reshape(-1, *y.shape[-3:]),))


def _four(mask: T) -> T:
    unless(mask.ndim > 4, "a mask of five axes")
    return mask


def sliding_window_attention(
    q: T, k: T, v: T, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False, scale: Any = None,
    enable_gqa: bool = False,
) -> Reading:  # fmt: skip
    unless(dropout_p or attn_mask is not None or enable_gqa, "a mask, dropout or groups")
    unless(q.ndim != 4 or (is_causal and q.shape[-2] != k.shape[-2]), "no batch, or other queries than keys")
    params = {"left": -1, "right": 0 if is_causal else -1, "scale": scale}
    return Reading("sliding_window_attention", (q, k, v), params)


def varlen_attention(
    q: T, k: T, v: T, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False, scale: Any = None,
    enable_gqa: bool = False,
) -> Reading:  # fmt: skip
    """The batch's sequences are as long as each other, one behind another."""
    unless(dropout_p or attn_mask is not None or enable_gqa, "a mask, dropout or groups")
    unless(q.ndim != 4 or (is_causal and q.shape[-2] != k.shape[-2]), "no batch, or other queries than keys")
    q_ends, k_ends = (torch.arange(t.shape[0] + 1) * t.shape[2] for t in (q, k))
    packed = [t.transpose(1, 2).reshape(-1, t.shape[1], t.shape[3]) for t in (q, k, v)]
    params = {"causal": is_causal, "scale": scale}
    return Reading(
        "varlen_attention",
        (*packed, q_ends, k_ends),
        params,
        lambda y: (y.transpose(1, 2).reshape(-1, y.shape[1], y.shape[3]),),
    )


# Normalisations


def layer_norm(x: T, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Reading:
    return Reading("layer_norm", (x, weight, bias), {"normalized_shape": tuple(normalized_shape), "eps": eps})


def native_layer_norm(x: T, normalized_shape: Any, weight: Any, bias: Any, eps: float) -> Reading:
    return Reading("layer_norm", (x, weight, bias), {"normalized_shape": tuple(normalized_shape), "eps": eps}, first)


def rms_norm(x: T, normalized_shape: Any, weight: Any = None, eps: Any = None) -> Reading:
    shape = tuple(normalized_shape)
    lead = x.shape[: x.ndim - len(shape)]
    flat = [t if t is None else t.reshape(*t.shape[: t.ndim - len(shape)], math.prod(shape)) for t in (x, weight)]
    params = {"eps": torch.finfo(x.dtype).eps if eps is None else eps}
    return Reading("rms_norm", tuple(flat), params, lambda y: (y.reshape(*lead, math.prod(shape)),))


def native_group_norm(x: T, weight: Any, bias: Any, n: int, c: int, hw: int, groups: int, eps: float) -> Reading:
    return Reading(
        "group_norm",
        (x.reshape(n, c, hw), weight, bias),
        {"num_groups": groups, "eps": eps},
        lambda y: (y[0].reshape(n, c, hw),),
    )


def instance_norm(
    x: T, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
    use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-5,
) -> Reading:  # fmt: skip
    unless(not use_input_stats, "running moments")
    return Reading("instance_norm", (x, weight, bias), {"eps": eps})


def batch_norm(
    x: T, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None, training: bool = False,
    momentum: float = 0.1, eps: float = 1e-5,
) -> Reading:  # fmt: skip
    unless(x.ndim < 2, "no channels")
    moments = (None, None) if training else (running_mean, running_var)
    return Reading("batch_norm", (x, *moments, weight, bias), {"training": training, "eps": eps})


def batch_norm_training(
    x: T, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None, training: bool = False,
    momentum: float = 0.1, eps: float = 1e-5,
) -> Reading:  # fmt: skip
    unless(not training or running_mean is None or running_var is None, "no training, or no running moments")
    moments = (torch.zeros_like(running_mean), torch.ones_like(running_var))  # those given are moved by now
    return Reading("batch_norm_training", (x, *moments, weight, bias), {"momentum": momentum, "eps": eps})


def native_batch_norm(
    x: T, weight: Any, bias: Any, running_mean: Any = None, running_var: Any = None, training: Any = None,
    momentum: Any = None, eps: Any = None,
) -> Reading:  # fmt: skip
    if isinstance(running_mean, bool):  # the overload without running moments
        running_mean, running_var, training, eps = None, None, running_mean, training
    moments = (None, None) if training else (running_mean, running_var)
    return Reading("batch_norm", (x, *moments, weight, bias), {"training": training, "eps": eps}, first)


# Drawn


def dropout(y: T, x: T, p: float = 0.5, training: bool = True, inplace: bool = False) -> Reading:
    """Held against the elements that PyTorch kept."""
    kept = (y != 0) | (x == 0) if training else torch.ones_like(x, dtype=torch.bool)
    unless(training and bool((x == 0).any()), "a zero may be kept or dropped")
    return Reading("dropout", (x, kept), {"p": p, "training": training})


def feature_dropout(y: T, x: T, p: float = 0.5, training: bool = True, inplace: bool = False) -> Reading:
    return dropout(y, x, p, training)


def native_dropout_backward(g: T, mask: T, scale: float) -> Reading:
    return Reading("mul", (g, mask.to(g.dtype) * scale))


# Losses


def linear_cross_entropy(x: T, weights: T, target: T, **given: Any) -> Reading:
    unless(x.ndim != 2 or weights.ndim != 2 or target.is_floating_point(), "no matrices and class indices")
    wanted = {n for n, v in given.items() if v is not None and n not in ("chunking_method", "options")}
    left = wanted - {"ignore_index", "label_smoothing", "reduction"}
    unless(left, f"no place for {', '.join(sorted(left))}")
    params = {n: given[n] for n in ("ignore_index", "label_smoothing", "reduction") if n in given}
    return Reading("linear_cross_entropy", (x, weights, target), params)
