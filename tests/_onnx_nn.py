"""ONNX's normalisations, convolutions, pooling, resizing, attention and losses, by our references. See _onnx_map.py."""

import math

import numpy as np

from _onnx_shared import NotOurs, numbers

# Normalisation. None stands for an output that is no output of ours.


def _layer_norm(ref, x, weight, bias=None, *, axis=-1, epsilon=1e-5, stash_type=1):
    last = tuple(range(axis % x.ndim, x.ndim))
    y = ref("layer_norm", x, weight, bias, normalized_shape=tuple(x.shape[d] for d in last), eps=epsilon)
    variance = ref("var", x, dim=last, correction=0, keepdim=True)
    return y, ref("mean", x, dim=last, keepdim=True), ref("rsqrt", ref("scale", variance, b=epsilon))


def _rms_norm(ref, x, weight, *, axis=-1, epsilon=1e-5, stash_type=1):
    """Ours is of the last axis: the axes are joined first."""
    lead = x.shape[: axis % x.ndim]
    joined = ref("reshape", x, shape=(*lead, -1))
    whole = np.broadcast_to(weight, x.shape[axis % x.ndim :])
    return ref("reshape", ref("rms_norm", joined, ref("reshape", whole, shape=(-1,)), eps=epsilon), shape=x.shape)


def _batch_norm(ref, x, scale, bias, mean, var, *, epsilon=1e-5, momentum=0.9, training_mode=0, spatial=1):
    y = ref("batch_norm", x, mean, var, scale, bias, training=bool(training_mode), eps=epsilon)
    return (y, None, None) if training_mode else y


def _lp_norm(ref, x, *, axis=-1, p=2):
    if p == 2:
        return ref("l2_norm", x, dim=axis)
    length = ref("norm", x, p=float(p), dim=axis, keepdim=True)
    return ref("where", ref("eq", length, np.zeros_like(length)), np.zeros_like(x), ref("div", x, length))


def _lrn(ref, x, *, size, alpha=1e-4, beta=0.75, bias=1.0):
    return ref("local_response_norm", x, size=size, alpha=alpha, beta=beta, k=bias)


def _mvn(ref, x, *, axes=(0, 2, 3)):
    if tuple(axes) != (0, 2, 3):
        raise NotOurs("axes other than 0, 2, 3")
    return ref("batch_norm", x, training=True, eps=0.0)


# Windows


def _pads(x, kernel, strides, dilations, auto_pad, pads):
    """Numbers of cells put before and after each axis."""
    n = len(kernel)
    if auto_pad in ("NOTSET", ""):
        return (numbers(pads)[:n], numbers(pads)[n:]) if pads is not None else ([0] * n, [0] * n)
    if auto_pad == "VALID":
        return [0] * n, [0] * n
    reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilations, strict=True)]
    total = [
        max((-(-size // s) - 1) * s + r - size, 0) for size, s, r in zip(x.shape[2:], strides, reach, strict=True)
    ]
    fewer, more = [t // 2 for t in total], [t - t // 2 for t in total]
    return (fewer, more) if auto_pad == "SAME_UPPER" else (more, fewer)


def _padded(ref, x, before, after, value):
    """x with its pads made explicit, which ours have alike on both sides only."""
    widths = [n for pair in zip(reversed(before), reversed(after), strict=True) for n in pair]
    return ref("pad", x, pad=tuple(widths), value=value)


def _conv(ref, x, w, b=None, *, kernel_shape=None, strides=None, dilations=None, pads=None, auto_pad="NOTSET", group=1):
    n = x.ndim - 2
    strides, dilations = strides or [1] * n, dilations or [1] * n
    before, after = _pads(x, w.shape[2:], strides, dilations, auto_pad, pads)
    if before != after:
        x, before = _padded(ref, x, before, after, 0.0), [0] * n
    name = f"conv{n}d"
    return ref(
        name, x, w, b, stride=tuple(strides), padding=tuple(before), dilation=tuple(dilations), groups=group
    )  # fmt: skip


def _conv_transpose(
    ref, x, w, b=None, *, kernel_shape=None, strides=None, dilations=None, pads=None, output_padding=None,
    output_shape=None, auto_pad="NOTSET", group=1,
):  # fmt: skip
    n = x.ndim - 2
    if n > 2:
        raise NotOurs("three axes; ours has one or two")
    strides, dilations, extra = strides or [1] * n, dilations or [1] * n, output_padding or [0] * n
    full = [
        s * (size - 1) + e + (k - 1) * d + 1
        for s, size, e, k, d in zip(strides, x.shape[2:], extra, w.shape[2:], dilations, strict=True)
    ]
    if output_shape is None and auto_pad.startswith("SAME"):
        output_shape = [size * s for size, s in zip(x.shape[2:], strides, strict=True)]
    if output_shape is not None:
        total = [f - o for f, o in zip(full, output_shape, strict=True)]
        # As the specification: SAME_UPPER puts the smaller half before, all else the larger.
        less, more = [t // 2 for t in total], [t - t // 2 for t in total]
        before, after = (less, more) if auto_pad == "SAME_UPPER" else (more, less)
    else:
        before, after = _pads(x, w.shape[2:], strides, dilations, "NOTSET", pads)
    y = ref(
        f"conv_transpose{n}d", x, w, b, stride=tuple(strides), output_padding=tuple(extra), groups=group,
        dilation=tuple(dilations),
    )  # fmt: skip
    return _padded(ref, y, [-p for p in before], [-p for p in after], 0.0)


def _average_pool(
    ref, x, *, kernel_shape, strides=None, dilations=None, pads=None, auto_pad="NOTSET", ceil_mode=0,
    count_include_pad=0,
):  # fmt: skip
    n = len(kernel_shape)
    if n > 2:
        raise NotOurs("three axes; ours has one or two")
    if dilations is not None and set(dilations) != {1}:
        raise NotOurs("dilations")
    strides = strides or [1] * n
    before, after = _pads(x, kernel_shape, strides, [1] * n, auto_pad, pads)
    given = {"kernel_size": tuple(kernel_shape), "stride": tuple(strides), "ceil_mode": bool(ceil_mode)}
    if before == after:
        return ref(f"avg_pool{n}d", x, padding=tuple(before), count_include_pad=bool(count_include_pad), **given)
    sums = ref(f"avg_pool{n}d", _padded(ref, x, before, after, 0.0), **given)
    if count_include_pad:
        return sums
    shares = ref(f"avg_pool{n}d", _padded(ref, np.ones_like(x), before, after, 0.0), **given)
    return ref("div", sums, shares)


def _max_pool(
    ref, x, *, kernel_shape, strides=None, dilations=None, pads=None, auto_pad="NOTSET", ceil_mode=0, storage_order=0
):  # fmt: skip
    n = len(kernel_shape)
    if n > 2:
        raise NotOurs("three axes; ours has one or two")
    strides, dilations = strides or [1] * n, dilations or [1] * n
    before, after = _pads(x, kernel_shape, strides, dilations, auto_pad, pads)
    given = {"kernel_size": tuple(kernel_shape), "stride": tuple(strides), "dilation": tuple(dilations)}
    if before != after:
        low = -math.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
        y, _ = ref(f"max_pool{n}d", _padded(ref, x, before, after, low), ceil_mode=bool(ceil_mode), **given)
        return y, None
    y, within = ref(f"max_pool{n}d", x, padding=tuple(before), ceil_mode=bool(ceil_mode), **given)
    if storage_order:
        h, w = x.shape[2:]
        within = within % w * h + within // w
    planes = np.arange(math.prod(x.shape[:2])).reshape(*x.shape[:2], *[1] * n)
    return y, within + planes * math.prod(x.shape[2:])  # ONNX counts through the whole tensor


def _global(name):
    return lambda ref, x: ref(name, x, dim=tuple(range(2, x.ndim)), keepdim=True)


def _global_average(ref, x):
    return ref("adaptive_avg_pool2d", x, output_size=1) if x.ndim == 4 else _global("mean")(ref, x)


def _col2im(ref, x, image_shape, block_shape, *, dilations=None, pads=None, strides=None):
    n = len(numbers(image_shape))
    if n != 2:
        raise NotOurs("axes other than two")
    before, after = (numbers(pads)[:n], numbers(pads)[n:]) if pads else ([0] * n, [0] * n)
    if before != after:
        raise NotOurs("uneven pads")
    return ref(
        "col2im", x, output_size=tuple(numbers(image_shape)), kernel_size=tuple(numbers(block_shape)),
        dilation=tuple(dilations or [1] * n), padding=tuple(before), stride=tuple(strides or [1] * n),
    )  # fmt: skip


def _upsample(ref, x, scales, *, mode="nearest"):
    size = tuple(int(n * s) for n, s in zip(x.shape[2:], scales[2:], strict=True))
    return ref("upsample_nearest" if mode == "nearest" else "upsample_bilinear", x, size=size)


def _resize(
    ref, x, roi=None, scales=None, sizes=None, *, mode="nearest", coordinate_transformation_mode="half_pixel",
    nearest_mode="round_prefer_floor", cubic_coeff_a=-0.75, exclude_outside=0, antialias=0, axes=None,
    keep_aspect_ratio_policy="stretch", extrapolation_value=0.0,
):  # fmt: skip
    if x.ndim != 4 or axes is not None or antialias or exclude_outside or keep_aspect_ratio_policy != "stretch":
        raise NotOurs("axes, antialias, exclude_outside or an aspect ratio policy")
    if scales is not None and scales.size:
        exact = [n * float(s) for n, s in zip(x.shape, scales, strict=True)]
        target = [math.floor(n) for n in exact]
        if exact != target:
            raise NotOurs("a scale that does not give a whole size; ours works from sizes")
    else:
        target = numbers(sizes)
    if tuple(target[:2]) != x.shape[:2]:
        raise NotOurs("axes other than height and width")
    how, size = coordinate_transformation_mode, tuple(target[2:])
    if mode == "nearest":
        if (how, nearest_mode) != ("asymmetric", "floor"):
            raise NotOurs(f"nearest by {how} and {nearest_mode}; ours is asymmetric and floor")
        return ref("upsample_nearest", x, size=size)
    if how not in ("half_pixel", "align_corners"):
        raise NotOurs(f"coordinates {how}")
    if mode == "cubic" and cubic_coeff_a != -0.75:
        raise NotOurs("a cubic coefficient other than -0.75")
    return ref("upsample_bicubic" if mode == "cubic" else "upsample_bilinear", x, size=size,
               align_corners=how == "align_corners")  # fmt: skip


# Attention


def _heads(ref, x, count):
    """(batch, tokens, heads times size) to (batch, heads, tokens, size)."""
    cut = ref("reshape", x, shape=(*x.shape[:2], count, x.shape[2] // count))
    return ref("permute", cut, dims=(0, 2, 1, 3))


def _attention(
    ref, q, k, v, attn_mask=None, past_key=None, past_value=None, nonpad_kv_seqlen=None, *, is_causal=0,
    q_num_heads=None, kv_num_heads=None, scale=None, softcap=0.0, softmax_precision=None, qk_matmul_output_mode=0,
):  # fmt: skip
    if nonpad_kv_seqlen is not None:
        raise NotOurs("lengths of padded keys")
    flat = q.ndim == 3
    if flat:
        q, k, v = _heads(ref, q, q_num_heads), _heads(ref, k, kv_num_heads), _heads(ref, v, kv_num_heads)
    if past_key is not None:
        k, v = ref("concat", past_key, k, dim=2), ref("concat", past_value, v, dim=2)
        if is_causal:
            raise NotOurs("causal with a past; ours aligns the first query with the first key")
    whole = (q.shape[0], q.shape[1], q.shape[2], k.shape[2])
    mask = keep = None
    if attn_mask is not None:
        if attn_mask.shape[-1] < whole[-1]:  # keys past the mask are left out
            short = whole[-1] - attn_mask.shape[-1]
            fill = False if attn_mask.dtype == bool else -np.inf
            attn_mask = ref("pad", attn_mask, pad=(0, short), value=fill)
        if attn_mask.dtype == bool:
            keep = attn_mask.astype(np.int64)
        else:
            mask = attn_mask
    y = ref(
        "scaled_dot_product_attention", q, k, v, mask, keep, is_causal=bool(is_causal), scale=scale,
        enable_gqa=q.shape[1] != k.shape[1], softcap=softcap,
    )  # fmt: skip
    if flat:
        y = ref("reshape", ref("permute", y, dims=(0, 2, 1, 3)), shape=(y.shape[0], y.shape[2], -1))
    return y, k, v, None


# Losses


def _nll(ref, x, target, weight=None, *, ignore_index=-100, reduction="mean"):
    return ref("nll_loss", x, target, weight, ignore_index=ignore_index, reduction=reduction)


def _cross_entropy(ref, x, target, weight=None, *, ignore_index=-100, reduction="mean"):
    loss = ref("cross_entropy", x, target, weight, ignore_index=ignore_index, reduction=reduction)
    return loss, ref("log_softmax", x, dim=1)


NN = {
    "Attention": _attention,
    "AveragePool": _average_pool,
    "BatchNormalization": _batch_norm,
    "Col2Im": _col2im,
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "GlobalAveragePool": _global_average,
    "GlobalMaxPool": _global("amax"),
    "GroupNormalization": lambda ref, x, scale, bias, *, num_groups, epsilon=1e-5, stash_type=1: ref(
        "group_norm", x, scale, bias, num_groups=num_groups, eps=epsilon
    ),
    "InstanceNormalization": lambda ref, x, scale, bias, *, epsilon=1e-5: ref("instance_norm", x, scale, bias, eps=epsilon),
    "LayerNormalization": _layer_norm,
    "LpNormalization": _lp_norm,
    "LRN": _lrn,
    "MaxPool": _max_pool,
    "MeanVarianceNormalization": _mvn,
    "NegativeLogLikelihoodLoss": _nll,
    "Resize": _resize,
    "RMSNormalization": _rms_norm,
    "SoftmaxCrossEntropyLoss": _cross_entropy,
    "Upsample": _upsample,
}
