"""ONNX's normalisations, attention and losses, by our references. See onnx/table.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from opproof.reference_ops.onnx.shared import NotTranslatable, Ref

# Normalisation. None stands for an output that is no output of ours.


def _translate_layer_norm(
    ref: Ref, x: Any, weight: Any, bias: Any = None, *, axis: Any = -1, epsilon: Any = 1e-5, stash_type: Any = 1
) -> Any:
    last = tuple(range(axis % x.ndim, x.ndim))
    y = ref("layer_norm", x, weight, bias, normalized_shape=tuple(x.shape[d] for d in last), eps=epsilon)
    variance = ref("var", x, dim=last, correction=0, keepdim=True)
    return y, ref("mean", x, dim=last, keepdim=True), ref("rsqrt", ref("scale", variance, b=epsilon))


def _translate_rms_norm(
    ref: Ref, x: Any, weight: Any, *, axis: Any = -1, epsilon: Any = 1e-5, stash_type: Any = 1
) -> Any:
    """Ours is of the last axis: the axes are joined first."""
    lead = x.shape[: axis % x.ndim]
    joined = ref("reshape", x, shape=(*lead, -1))
    whole = np.broadcast_to(weight, x.shape[axis % x.ndim :])
    return ref("reshape", ref("rms_norm", joined, ref("reshape", whole, shape=(-1,)), eps=epsilon), shape=x.shape)


def _translate_batch_norm(
    ref: Ref,
    x: Any,
    scale: Any,
    bias: Any,
    mean: Any,
    var: Any,
    *,
    epsilon: Any = 1e-5,
    momentum: Any = 0.9,
    training_mode: Any = 0,
    spatial: Any = 1,
) -> Any:
    if training_mode:
        given = {"momentum": 1 - momentum, "unbiased": False, "eps": epsilon}
        return ref("batch_norm_training", x, mean, var, scale, bias, **given)
    return ref("batch_norm", x, mean, var, scale, bias, eps=epsilon)


def _translate_lp_norm(ref: Ref, x: Any, *, axis: Any = -1, p: Any = 2) -> Any:
    if p == 2:
        return ref("l2_norm", x, dim=axis)
    length = ref("norm", x, p=float(p), dim=axis, keepdim=True)
    return ref("where", ref("eq", length, np.zeros_like(length)), np.zeros_like(x), ref("div", x, length))


def _translate_lrn(ref: Ref, x: Any, *, size: Any, alpha: Any = 1e-4, beta: Any = 0.75, bias: Any = 1.0) -> Any:
    return ref("local_response_norm", x, size=size, alpha=alpha, beta=beta, k=bias)


def _translate_mvn(ref: Ref, x: Any, *, axes: Any = (0, 2, 3)) -> Any:
    if tuple(axes) != (0, 2, 3):
        raise NotTranslatable("axes other than 0, 2, 3")
    return ref("batch_norm", x, training=True, eps=0.0)


# Attention


def _split_heads(ref: Ref, x: Any, count: Any) -> Any:
    """(batch, tokens, heads times size) to (batch, heads, tokens, size)."""
    cut = ref("reshape", x, shape=(*x.shape[:2], count, x.shape[2] // count))
    return ref("permute", cut, dims=(0, 2, 1, 3))


def _make_window_mask(ref: Ref, shape: Any, past: int, left: Any, right: Any) -> Any:
    """Which keys each query sees: so many before and after its own place, all where the number is -1."""
    seen = ref("fill", np.empty(shape), value=1.0)
    seen = ref("tril", seen, diagonal=past + right) if right >= 0 else seen
    return (ref("triu", seen, diagonal=past - left) if left >= 0 else seen).astype(np.int64)


def _split_mask(ref: Ref, given: Any, keys: int) -> tuple[Any, Any]:
    """What is added to the scores of so many keys, and which keys are seen; None where the mask does not say it."""
    if given is None:
        return None, None
    if given.shape[-1] < keys:  # keys past the mask are left out
        fill = False if given.dtype == bool else -np.inf
        given = ref("pad", given, pad=(0, keys - given.shape[-1]), value=fill)
    return (None, given.astype(np.int64)) if given.dtype == bool else (given, None)


def _translate_attention(
    ref: Ref,
    q: Any,
    k: Any,
    v: Any,
    attn_mask: Any = None,
    past_key: Any = None,
    past_value: Any = None,
    nonpad_kv_seqlen: Any = None,
    *,
    is_causal: Any = 0,
    q_num_heads: Any = None,
    kv_num_heads: Any = None,
    scale: Any = None,
    softcap: Any = 0.0,
    softmax_precision: Any = None,
    qk_matmul_output_mode: Any = 0,
    left_window_size: Any = -1,
    right_window_size: Any = -1,
) -> Any:
    if nonpad_kv_seqlen is not None:
        raise NotTranslatable("lengths of padded keys")
    flat = q.ndim == 3
    if flat:
        heads = (q, q_num_heads), (k, kv_num_heads), (v, kv_num_heads)
        q, k, v = (_split_heads(ref, x, count) for x, count in heads)
    past = 0 if past_key is None else past_key.shape[2]
    if past_key is not None:
        k, v = ref("concat", past_key, k, dim=2), ref("concat", past_value, v, dim=2)
    if past and is_causal:  # ours aligns the first query with the first key, ONNX with the first that is not past
        is_causal, right_window_size = 0, 0
    whole = (q.shape[0], q.shape[1], q.shape[2], k.shape[2])
    mask, keep = _split_mask(ref, attn_mask, whole[-1])
    if left_window_size >= 0 or right_window_size >= 0:
        window = _make_window_mask(ref, whole[2:], past, left_window_size, right_window_size)
        keep = window if keep is None else ref("bitwise_and", keep, window)
    y = ref(
        "scaled_dot_product_attention",
        q,
        k,
        v,
        mask,
        keep,
        is_causal=bool(is_causal),
        scale=scale,
        enable_gqa=q.shape[1] != k.shape[1],
        softcap=softcap,
    )
    if flat:
        y = ref("reshape", ref("permute", y, dims=(0, 2, 1, 3)), shape=(y.shape[0], y.shape[2], -1))
    return y, k, v, None


# Losses


def _translate_nll(
    ref: Ref, x: Any, target: Any, weight: Any = None, *, ignore_index: Any = -100, reduction: Any = "mean"
) -> Any:
    return ref("nll_loss", x, target, weight, ignore_index=ignore_index, reduction=reduction)


def _translate_cross_entropy(
    ref: Ref, x: Any, target: Any, weight: Any = None, *, ignore_index: Any = -100, reduction: Any = "mean"
) -> Any:
    loss = ref("cross_entropy", x, target, weight, ignore_index=ignore_index, reduction=reduction)
    return loss, ref("log_softmax", x, dim=1)


def _translate_dropout(
    ref: Ref, x: Any, ratio: Any = 0.5, training_mode: Any = False, *, seed: Any = 0, count: int = 1, **attrs: Any
) -> Any:
    """Older nodes have the ratio as an attribute, and tell by it nothing but what training would drop."""
    training = bool(np.any(training_mode))
    if training and count == 1:
        raise NotTranslatable("what is dropped, where no mask says which")
    p = float(np.asarray(attrs.get("ratio", ratio)))
    return ref("dropout", x, p=p, key=int(seed), training=training)


NN: dict[str, Callable[..., Any]] = {
    "Dropout": _translate_dropout,
    "Attention": _translate_attention,
    "BatchNormalization": _translate_batch_norm,
    "GroupNormalization": lambda ref, x, scale, bias, *, num_groups, epsilon=1e-5, stash_type=1: ref(
        "group_norm", x, scale, bias, num_groups=num_groups, eps=epsilon
    ),
    "InstanceNormalization": lambda ref, x, scale, bias, *, epsilon=1e-5: ref(
        "instance_norm", x, scale, bias, eps=epsilon
    ),
    "LayerNormalization": _translate_layer_norm,
    "LpNormalization": _translate_lp_norm,
    "LRN": _translate_lrn,
    "MeanVarianceNormalization": _translate_mvn,
    "NegativeLogLikelihoodLoss": _translate_nll,
    "RMSNormalization": _translate_rms_norm,
    "SoftmaxCrossEntropyLoss": _translate_cross_entropy,
}
