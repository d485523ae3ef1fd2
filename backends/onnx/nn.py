"""ONNX's operators by ours: normalisation, softmax, attention, rotary positions. See model.py."""

from __future__ import annotations

import numpy as np

from opproof.backends.onnx.model import ELEMENTS, Entry, Model, ModelInput
from opproof.backends.onnx.pointwise import boolean
from opproof.backends.protocol import Unsupported

#: Rows of rope's tables of angles, positions are below: of any model, and of one of long texts.
MAX_POSITIONS, MAX_FAR_POSITIONS = 1024, 131072
#: From this freq_base on a model is one of long texts.
FAR = 1e5


def _make_weight(
    m: Model, x: ModelInput | None, otherwise: float, shape: tuple[int, ...], dtype: str
) -> ModelInput | str:
    """A weight that ONNX wants always and ours may lack."""
    return m.constant(np.full(shape, otherwise), dtype) if x is None else x


def _stash_type_of(x: ModelInput) -> int | None:
    """The dtype in which norms take moments: ONNX's default is float32, also for float64."""
    return ELEMENTS["f64"] if x.dtype == "f64" else None


def _layer_norm(
    m: Model,
    x: ModelInput,
    weight: ModelInput | None = None,
    bias: ModelInput | None = None,
    *,
    normalized_shape: tuple[int, ...],
    eps: float,
) -> str:
    scale = _make_weight(m, weight, 1, normalized_shape, x.dtype)
    return m.node(
        "LayerNormalization", x, scale, bias, axis=-len(normalized_shape), epsilon=eps, stash_type=_stash_type_of(x)
    )


def _rms_norm(m: Model, x: ModelInput, weight: ModelInput | None = None, *, eps: float) -> str:
    scale = _make_weight(m, weight, 1, x.shape[-1:], x.dtype)
    return m.node("RMSNormalization", x, scale, axis=-1, epsilon=eps, stash_type=_stash_type_of(x))


def _make_affine(m: Model, x: ModelInput, weight: ModelInput | None, bias: ModelInput | None) -> list[ModelInput | str]:
    """The weight and bias of each channel, both of which ONNX wants."""
    return [_make_weight(m, v, n, x.shape[1:2], x.dtype) for v, n in ((weight, 1), (bias, 0))]


def _group_norm(
    m: Model,
    x: ModelInput,
    weight: ModelInput | None = None,
    bias: ModelInput | None = None,
    *,
    num_groups: int,
    eps: float,
) -> str:
    affine = _make_affine(m, x, weight, bias)
    return m.node("GroupNormalization", x, *affine, num_groups=num_groups, epsilon=eps, stash_type=_stash_type_of(x))


def _instance_norm(
    m: Model, x: ModelInput, weight: ModelInput | None = None, bias: ModelInput | None = None, *, eps: float
) -> str:
    return m.node("InstanceNormalization", x, *_make_affine(m, x, weight, bias), epsilon=eps)


def _batch_norm(
    m: Model,
    x: ModelInput,
    running_mean: ModelInput | None = None,
    running_var: ModelInput | None = None,
    weight: ModelInput | None = None,
    bias: ModelInput | None = None,
    *,
    training: bool,
    eps: float,
) -> str:
    moments = [_make_weight(m, v, n, x.shape[1:2], x.dtype) for v, n in ((running_mean, 0), (running_var, 1))]
    weights = (*_make_affine(m, x, weight, bias), *moments)
    count = 3 if training else 1  # in training also the moments to come, which ours has not
    given = {"epsilon": eps, "training_mode": int(training)}
    return m.nodes_results("BatchNormalization", count, x, *weights, **given)[0]


def _batch_norm_training(
    m: Model,
    x: ModelInput,
    running_mean: ModelInput,
    running_var: ModelInput,
    weight: ModelInput | None = None,
    bias: ModelInput | None = None,
    *,
    momentum: float,
    unbiased: bool,
    eps: float,
) -> list[str]:
    if unbiased:
        raise Unsupported("ONNX's running variance is the batch's over n, not over n - 1")
    given = {"epsilon": eps, "momentum": 1 - momentum, "training_mode": 1}
    weights = (*_make_affine(m, x, weight, bias), running_mean, running_var)
    return m.nodes_results("BatchNormalization", 3, x, *weights, **given)


def _l2_norm(m: Model, x: ModelInput, *, dim: int, eps: float) -> str:
    if eps > 1e-12:
        raise Unsupported("ONNX's LpNormalization has no eps")
    return m.node("LpNormalization", x, axis=dim, p=2)


def _lrn(m: Model, x: ModelInput, *, size: int, alpha: float, beta: float, k: float) -> str:
    return m.node("LRN", x, size=size, alpha=alpha, beta=beta, bias=k)


def _attention(
    m: Model,
    query: ModelInput,
    key: ModelInput,
    value: ModelInput,
    attn_mask: ModelInput | None = None,
    keep: ModelInput | None = None,
    sinks: ModelInput | None = None,
    *,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool,  # noqa: ARG001 - the heads say it
    softcap: float,
    max_bias: float,
) -> str:
    if max_bias > 0 or sinks is not None:
        raise Unsupported("ONNX's Attention has no ALiBi and no sinks")
    if attn_mask is not None and keep is not None:
        raise Unsupported("ONNX's Attention takes one mask")
    mask = attn_mask if keep is None else boolean(m, keep)
    return m.node("Attention", query, key, value, mask, is_causal=int(is_causal), scale=scale, softcap=softcap)


def _rope(
    m: Model,
    x: ModelInput,
    positions: ModelInput,
    freq_factors: ModelInput | None = None,
    *,
    n_dims: int,
    mode: str,
    freq_base: float,
    freq_scale: float,
    ext_factor: float,
    attn_factor: float,
    **_: object,
) -> str:
    """RotaryEmbedding looks cosines and sines up in tables, which a model holds as constants."""
    if mode not in ("norm", "neox") or ext_factor != 0 or freq_factors is not None:
        raise Unsupported("ONNX's RotaryEmbedding turns by tables, one row a position: no sections, no freq_factors")
    speeds = freq_scale * freq_base ** (-2 * np.arange(n_dims // 2) / n_dims)
    n, tokens, heads, d = x.shape
    longest = max(tokens, MAX_FAR_POSITIONS if freq_base >= FAR else MAX_POSITIONS)  # no text is longer than the table
    angles = np.arange(longest)[:, None] * speeds
    tables = [m.constant(attn_factor * f(angles), x.dtype) for f in (np.cos, np.sin)]
    rows = m.node("Reshape", x, m.constant((n, tokens, heads * d)), allowzero=1)
    ids = m.node("Expand", positions, m.constant((n, tokens)))
    y = m.node(
        "RotaryEmbedding",
        rows,
        *tables,
        ids,
        interleaved=int(mode == "norm"),
        num_heads=heads,
        rotary_embedding_dim=n_dims if n_dims < d else 0,
    )
    return m.node("Reshape", y, m.constant(x.shape), allowzero=1)


def _dropout(
    m: Model, x: ModelInput, mask: ModelInput | None = None, *, p: float, key: int, training: bool
) -> list[str]:
    if mask is not None:
        raise Unsupported("ONNX's Dropout draws its mask")
    if p == 1:
        raise Unsupported("ONNX's Dropout keeps some")
    return m.nodes_results(
        "Dropout", 2, x, m.constant(p, "f64" if x.dtype == "f64" else "f32"), m.constant(training, "bool"), seed=key
    )


TABLE: dict[str, Entry] = {
    "dropout": _dropout,
    "softmax": lambda m, x, *, dim: m.node("Softmax", x, axis=dim),
    "log_softmax": lambda m, x, *, dim: m.node("LogSoftmax", x, axis=dim),
    "layer_norm": _layer_norm,
    "rms_norm": _rms_norm,
    "group_norm": _group_norm,
    "instance_norm": _instance_norm,
    "batch_norm": _batch_norm,
    "batch_norm_training": _batch_norm_training,
    "l2_norm": _l2_norm,
    "local_response_norm": _lrn,
    "scaled_dot_product_attention": _attention,
    "rope": _rope,
}
