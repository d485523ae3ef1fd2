"""tinygrad's methods by operator: normalisation, attention, windows, losses, optimisers. See pointwise.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tinygrad import Tensor, dtypes, nn
from tinygrad.helpers import Context
from tinygrad.nn import optim

from opproof.backends.protocol import Unsupported
from opproof.backends.sizes import Sizes, to_per_axis


def _make_layer(layer: Any, **given: Any) -> Any:
    """A layer of tinygrad.nn with these tensors in place of its own."""
    for name, value in given.items():
        setattr(layer, name, value)
    return layer


def _has_affine(weight: Any, bias: Any) -> bool:
    if (weight is None) != (bias is None):
        raise Unsupported("the layers of tinygrad.nn have weight and bias, or neither")
    return weight is not None


def _layer_norm(x: Any, weight: Any = None, bias: Any = None, *, normalized_shape: tuple[int, ...], eps: float) -> Any:
    layer = nn.LayerNorm(normalized_shape, eps, elementwise_affine=_has_affine(weight, bias))
    return _make_layer(layer, weight=weight, bias=bias)(x)


def _rms_norm(x: Any, weight: Any = None, *, eps: float) -> Any:
    return _make_layer(nn.RMSNorm(x.shape[-1], eps, elementwise_affine=False), weight=weight)(x)


def _group_norm(x: Any, weight: Any = None, bias: Any = None, *, num_groups: int, eps: float) -> Any:
    layer = nn.GroupNorm(num_groups, x.shape[1], eps, affine=_has_affine(weight, bias))
    return _make_layer(layer, weight=weight, bias=bias)(x)


def _instance_norm(x: Any, weight: Any = None, bias: Any = None, *, eps: float) -> Any:
    layer = nn.InstanceNorm(x.shape[1], eps, affine=_has_affine(weight, bias))
    return _make_layer(layer, weight=weight, bias=bias)(x)


def _batch_norm(
    x: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
    *, training: bool, eps: float,
) -> Any:  # fmt: skip
    layer = nn.BatchNorm(x.shape[1], eps, affine=weight is not None, track_running_stats=not training)
    moments = {} if training else {"running_mean": running_mean, "running_var": running_var}
    with Context(TRAINING=int(training)):
        return _make_layer(layer, weight=weight, bias=bias, **moments)(x)


def _attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, keep: Any = None, sinks: Any = None,
    *, is_causal: bool, scale: float | None, enable_gqa: bool, softcap: float, max_bias: float,
) -> Any:  # fmt: skip
    if sinks is not None or softcap > 0 or max_bias > 0 or scale is not None:
        raise Unsupported("tinygrad's attention has no scale, no sinks, no softcap and no ALiBi")
    if sum((is_causal, attn_mask is not None, keep is not None)) > 1:
        raise Unsupported("tinygrad's attention takes one mask")
    mask = attn_mask if keep is None else keep.ne(0)
    return query.scaled_dot_product_attention(key, value, mask, is_causal=is_causal, enable_gqa=enable_gqa)


def _conv(n: int) -> Callable[..., Any]:
    def conv(x: Any, weight: Any, bias: Any = None, *, padding: Sizes, **given: Any) -> Any:
        return x.conv2d(weight, bias, padding=(padding,) * n if isinstance(padding, int) else padding, **given)

    return conv


def _conv_transpose(x: Any, weight: Any, bias: Any = None, **given: Any) -> Any:
    return x.conv_transpose2d(weight, bias, **given)


def _depthwise(x: Any, weight: Any, bias: Any = None, **given: Any) -> Any:
    return _conv(2)(x, weight, bias, **given, groups=x.shape[1])


def _to_pads(padding: Sizes, n: int) -> Sizes:
    """Two numbers an axis go from the last axis to the first in tinygrad, before and after each."""
    if isinstance(padding, int) or len(padding) == n:
        return padding
    return tuple(p for axis in reversed(range(n)) for p in (padding[axis], padding[n + axis]))


def _avg_pool(n: int) -> Callable[..., Any]:
    def avg_pool(
        x: Any, *, kernel_size: Sizes, padding: Sizes, divisor_override: int | None = None, **given: Any
    ) -> Any:
        if divisor_override is not None:
            raise Unsupported("tinygrad's avg_pool2d divides by the window's size")
        return x.avg_pool2d(to_per_axis(kernel_size, n), padding=_to_pads(padding, n), **given)

    return avg_pool


def _max_pool(n: int) -> Callable[..., Any]:
    return lambda x, *, kernel_size, padding, **given: x.max_pool2d(
        to_per_axis(kernel_size, n), padding=_to_pads(padding, n), **given, return_indices=True
    )


def _cross_entropy(
    x: Any, target: Any, weight: Any = None, *, ignore_index: int, label_smoothing: float, reduction: str
) -> Any:
    if weight is not None or ignore_index != -100:
        raise Unsupported("tinygrad's cross_entropy has no class weights and ignores no class")
    return x.cross_entropy(target, reduction, label_smoothing)


def _nll_loss(x: Any, target: Any, weight: Any = None, *, ignore_index: int, reduction: str) -> Any:
    if x.ndim == 1:
        raise Unsupported("tinygrad's nll_loss wants a batch")
    return x.nll_loss(target, weight, ignore_index, reduction)


def _bce(x: Any, target: Any, weight: Any = None, pos_weight: Any = None, *, reduction: str) -> Any:
    if weight is not None:
        raise Unsupported("tinygrad's binary_crossentropy_logits has no weights")
    return x.binary_crossentropy_logits(target, reduction, pos_weight)


def _run_step(optimiser: Any, param: Any, grad: Any) -> Any:
    """`param` after a step, which writes to it: of a graph others take it as it was."""
    param.grad = grad
    with Context(TRAINING=1):
        optimiser.step()
    return param


def _sgd(param: Any, grad: Any, *, lr: float, weight_decay: float) -> Any:
    param = param.clone()
    return _run_step(optim.SGD([param], lr, weight_decay=weight_decay), param, grad)


def _adamw(
    param: Any, grad: Any, exp_avg: Any, exp_avg_sq: Any, *, lr: float, beta1: float, beta2: float, eps: float,
    weight_decay: float, step: int,
) -> Any:  # fmt: skip
    if param.dtype != dtypes.float32:
        raise Unsupported("tinygrad keeps the moments of its optimisers in float32")
    param, exp_avg, exp_avg_sq = (t.clone() for t in (param, exp_avg, exp_avg_sq))
    adamw: Any = optim.AdamW([param], lr, beta1, beta2, eps, weight_decay)
    adamw.m, adamw.v = [exp_avg], [exp_avg_sq]
    adamw.b1_t, adamw.b2_t = (adamw.b1_t * b ** (step - 1) for b in (beta1, beta2))
    return _run_step(adamw, param, grad), exp_avg, exp_avg_sq


def _dropout(x: Any, mask: Any = None, *, p: float, key: int, training: bool) -> tuple[Any, Any]:
    """The mask is what dropout makes of ones, from the same seed."""
    if mask is not None:
        raise Unsupported("tinygrad's dropout draws its mask")
    with Context(TRAINING=int(training)):
        Tensor.manual_seed(key)
        y = x.dropout(p)
        Tensor.manual_seed(key)
        return y, x.ones_like().dropout(p) != 0


TABLE: dict[str, Callable[..., Any]] = {
    "dropout": _dropout,
    "softmax": lambda x, *, dim: x.softmax(dim),
    "log_softmax": lambda x, *, dim: x.log_softmax(dim),
    "layer_norm": _layer_norm,
    "rms_norm": _rms_norm,
    "group_norm": _group_norm,
    "instance_norm": _instance_norm,
    "batch_norm": _batch_norm,
    "l2_norm": lambda x, *, dim, eps: x.normalize(2.0, dim, eps),
    "scaled_dot_product_attention": _attention,
    "conv1d": _conv(1),
    "conv2d": _conv(2),
    "conv3d": _conv(3),
    "conv2d_depthwise": _depthwise,
    "conv_transpose1d": _conv_transpose,
    "conv_transpose2d": _conv_transpose,
    "avg_pool1d": _avg_pool(1),
    "avg_pool2d": _avg_pool(2),
    "max_pool1d": _max_pool(1),
    "max_pool2d": _max_pool(2),
    "upsample_nearest": lambda x, *, size: x.interpolate(size, "nearest"),
    "upsample_bilinear": lambda x, *, size, align_corners: x.interpolate(size, "linear", align_corners),
    "cross_entropy": _cross_entropy,
    "nll_loss": _nll_loss,
    "bce_with_logits": _bce,
    "opt_step_sgd": _sgd,
    "opt_step_adamw": _adamw,
}
