"""Kernels that are wrong where exponents end, squares overflow, masks hold 2, or elimination meets a zero fail."""

import numpy as np
import pytest
from _ask import Kernel, judged

from opproof.cases._registry import listed_cases
from opproof.harness.reference.data import inputs_of
from opproof.reference_ops import load

_F32 = np.float32


def _sums(x, axis=-1):
    return np.sum(x, axis=axis, keepdims=True)


def _topk_moe(logits, *, k, gating, renormalize, scale):
    """A softmax that does not take off the largest logit."""
    shares = np.exp(logits)
    shares = shares / _sums(shares)
    ids = np.argsort(-logits, axis=-1, kind="stable")[:, :k]
    weights = np.take_along_axis(shares, ids, -1)
    return [(weights / _sums(weights) if renormalize else weights) * _F32(scale), ids]


def _attention(query, key, value, *_, **__):
    k, v = (np.repeat(x, query.shape[1] // x.shape[1], axis=1) for x in (key, value))
    e = np.exp(np.minimum(query @ np.swapaxes(k, -1, -2) / np.sqrt(_F32(query.shape[-1])), 88))
    return [e / _sums(e) @ v]


def _ssm_scan(state, x, dt, A, B, C, ids):
    """softplus as it is written, log(1 + exp(dt))."""
    naive = np.where(np.exp(dt) == np.inf, np.inf, dt)
    return load("ssm_scan").forward(state, x, naive, A, B, C, ids)


def _mask(op, true):
    def wrong(first, mask, *rest, **params):
        kept = (first, true(mask), *rest) if op == "masked_fill" else (true(first), mask, *rest)
        return [load(op).forward(*kept, **params)]

    return wrong


def _steep(a, b=None, *, exponent=None):
    return [np.exp(np.clip(b * np.log(a), -40, 40))]


def _eliminated(x):
    """Elimination that swaps no rows."""
    a, det = x.copy(), np.ones(x.shape[:-2], x.dtype)
    for i in range(x.shape[-1]):
        det = det * a[..., i, i]
        factors = a[..., i + 1 :, i] / a[..., i : i + 1, i]
        a[..., i + 1 :, :] -= factors[..., None] * a[..., i : i + 1, :]
    return [det]


def _other_triangle_times_zero(a, b, *, upper, left=True, unitriangular=False):
    hidden = load("solve_triangular").hidden(a, b, upper=upper, left=left, unitriangular=unitriangular)[0]
    seen = np.where(hidden, a * _F32(0), a)
    added = np.where(hidden, seen, 0).sum((-1, -2), keepdims=True)
    return [load("solve_triangular").forward(a, b, upper=upper, left=left, unitriangular=unitriangular) + added]


#: Operator, the fill that shows it, the kernel.
KERNELS = {
    "shares that overflow": ("topk_moe", "past-exp", _topk_moe),
    "scores cut at 88": ("scaled_dot_product_attention", "agreed", _attention),
    "a softplus that overflows": ("ssm_scan", "past-exp", _ssm_scan),
    "a condition that is 1": ("where", "truths", _mask("where", lambda m: m == 1)),
    "the last bit of a condition": ("where", "truths", _mask("where", lambda m: m & 1)),
    "a positive mask": ("masked_fill", "truths", _mask("masked_fill", lambda m: m > 0)),
    "a mask of 8 bits": ("masked_fill", "truths", _mask("masked_fill", lambda m: m.astype(np.uint8))),
    "a root of squares": ("hypot", "squares", lambda a, b: [np.sqrt(a * a + b * b)]),
    "exponents cut at 40": ("pow", "steep", _steep),
    "no pivot": ("det", "pivots", _eliminated),
    "the other triangle times 0": ("solve_triangular", "masked-special", _other_triangle_times_zero),
    "finite up to 2^127": ("isfinite", "limits", lambda x: [np.abs(x) < 2.0**127]),
    "finite by a minimum": ("isfinite", "limits", lambda x: [(np.abs(x) >= np.finfo(_F32).tiny) & np.isfinite(x)]),
}


@pytest.mark.parametrize(("op", "fill", "kernel"), KERNELS.values(), ids=KERNELS)
def test_a_kernel_fails_where_it_is_wrong(op, fill, kernel):
    rows = [case for case in listed_cases(op) if case.fill == fill and case.dtype == "f32"]
    assert rows
    for case in rows:
        assert judged(Kernel(kernel), str(case), "forward").verdict == "WRONG_VALUE", case


def test_the_gradient_of_an_angle_whose_square_overflows_is_wrong():
    class Angle(Kernel):
        def vjp(self, op, inputs, params, cotangents, needs):
            (a, b), (g,) = inputs, cotangents
            with np.errstate(all="ignore"):
                return [g * b / (a * a + b * b), -g * a / (a * a + b * b)]

    case = "atan2[a=9x33;b=9x33;f32;fill=squares]"
    assert judged(Angle(lambda a, b: [np.arctan2(a, b)]), case, "gradient").verdict == "WRONG_GRADIENT"


def test_masks_hold_every_true_number_and_as_many_zeros():
    case = next(case for case in listed_cases("where") if case.fill == "truths")
    drawn = inputs_of(case, load("where"))["condition"]
    assert {*np.unique(drawn)} == {0, 1, 2, -1, 254, 255, 256, 65536}
    assert 0.4 < np.mean(drawn == 0) < 0.6


def _squares_of_16_bits(x, target, *, reduction):
    squares = np.square(x - target, dtype=np.float16).astype(_F32)
    return [np.asarray(squares.mean() if reduction == "mean" else squares.sum(), np.float16)]


def test_squares_in_float16_of_a_few_numbers_past_256():
    """Of ordinary numbers their roundings average out; the largest activations of a model are past 256."""
    plain = "mse_loss[x=7x33;target=7x33;reduction=sum;f16]"
    outliers = next(str(case) for case in listed_cases("mse_loss") if case.fill == "outliers")
    assert judged(Kernel(_squares_of_16_bits), plain, "forward").verdict == "PASS"
    assert judged(Kernel(_squares_of_16_bits), outliers, "forward").verdict == "WRONG_VALUE"


def test_who_takes_means_of_squares_is_asked_with_outliers():
    squared = ("rms_norm", "layer_norm", "group_norm", "instance_norm", "l2_norm", "norm", "var", "std", "mse_loss")
    for op in squared:
        assert [case for case in listed_cases(op) if case.fill == "outliers" and case.dtype == "f16"], op


def test_codes_of_nan_taken_for_numbers():
    """0x7f of float8_e4m3fn follows 448 as 480 would."""

    def decoded(data, scale, zero_point=None, **params):
        values = load("dequantize_linear").forward(data, scale, zero_point, **params)
        return [np.where(np.isnan(values), _F32(480) * scale, values).astype(scale.dtype)]

    case = "dequantize_linear[data=7x33;scale=7x1;type=f8e4m3;f32{}]"
    assert judged(Kernel(decoded), case.format(""), "forward").verdict == "PASS"
    assert judged(Kernel(decoded), case.format(";fill=nan-codes"), "forward").verdict == "WRONG_VALUE"


def test_small_scales_of_blocks_that_are_decoded_to_half_their_value():
    """Subnormal numbers of f16 whose exponent is taken to be one less than it is."""

    def decoded(data, **params):
        halved = data.copy()
        scales = np.ascontiguousarray(data[..., :2]).view("<u2")
        halved[..., :2] = np.where(scales < 0x400, scales // 2, scales).view(np.uint8)
        return [load("dequantize").forward(halved, **params)]

    for quant, size in (("q4_0", 18), ("q8_0", 34)):
        case = f"dequantize[data=5x{size};type={quant};f32{{}}]"
        assert judged(Kernel(decoded), case.format(""), "forward").verdict == "PASS"
        assert judged(Kernel(decoded), case.format(";fill=small-scales"), "forward").verdict == "WRONG_VALUE"


class Gradients(Kernel):
    """Right values; `gradients` of the inputs, a cotangent and the output."""

    def __init__(self, op, gradients):
        super().__init__(lambda *inputs, **params: [load(op).forward(*inputs, **params)])
        self.gradients = gradients

    def vjp(self, op, inputs, params, cotangents, needs):
        with np.errstate(all="ignore"):
            return self.gradients(*inputs, *cotangents, *self.wrong(*inputs, **params))


def test_the_gradient_of_an_exponent_without_a_case_for_a_base_of_0():
    def gradients(a, b, g, y):
        return [load("pow").vjp(g, y, a, b)[0], g * y * np.log(a)]

    case = "pow[a=9x33;b=9x33;f64{}]"
    assert judged(Gradients("pow", gradients), case.format(""), "gradient").verdict == "PASS"
    assert judged(Gradients("pow", gradients), case.format(";fill=brink"), "gradient").verdict == "WRONG_GRADIENT"


def test_the_gradient_of_a_determinant_of_0_that_is_0():
    def gradients(x, g, y):
        return [np.where((y == 0)[..., None, None], 0, load("det").vjp(g, y, x))]

    case = "det[x=8x2x2;f64{}]"
    assert judged(Gradients("det", gradients), case.format(""), "gradient").verdict == "PASS"
    assert judged(Gradients("det", gradients), case.format(";fill=singular"), "gradient").verdict == "WRONG_GRADIENT"


def _by_tiles(x, mask=None, *rest, scale, **params):
    """A running maximum that is -inf as long as all is shut out: -inf less -inf."""
    scores = x * _F32(scale) + (0 if mask is None else mask)
    most, total, parts = np.full((*x.shape[:-1], 1), -np.inf, _F32), _F32(0), []
    for start in range(0, x.shape[-1], 64):
        tile = scores[..., start : start + 64]
        higher = np.maximum(most, tile.max(-1, keepdims=True))
        less, tile = np.exp(most - higher), np.exp(tile - higher)
        total, most, parts = total * less + _sums(tile), higher, [*(p * less for p in parts), tile]
    return [np.concatenate(parts, -1) / total]


def test_a_mask_that_is_added_shuts_the_first_keys_out():
    rows = [case for case in listed_cases("softmax_ext") if case.fill == "padded" and "mask" in case.shapes]
    (case,) = (case for case in rows if case.dtype == "f32")
    mask = inputs_of(case, load("softmax_ext"))["mask"]
    assert np.isneginf(mask[..., :64]).all(-1).any()
    assert np.isfinite(mask).any(-1).all()
    assert judged(Kernel(_by_tiles), str(case), "forward").verdict == "WRONG_VALUE"
    assert judged(Kernel(_by_tiles), "softmax_ext[x=2x2x3x257;mask=2x1x3x257;f32]", "forward").verdict == "PASS"
    assert any(c.fill == "padded" and "attn_mask" in c.shapes for c in listed_cases("scaled_dot_product_attention"))


def test_few_indices_of_a_long_axis_hold_its_ends():
    def in_16_bits(x, indices, *, dim):
        return [np.take_along_axis(x, indices & 0xFFFF, dim)]

    case = "take_along_dim[x=2x65537;indices=2x3;dim=1;f16]"
    assert case in map(str, listed_cases("take_along_dim"))
    assert judged(Kernel(in_16_bits), case, "forward").verdict == "WRONG_VALUE"
    named = {"gather": "index", "index_select": "index", "embedding": "indices", "add_id": "ids"}
    for op, name in {**named, "embedding_bag": "indices", "get_rows_back": "indices"}.items():
        few = [c for c in listed_cases(op) if "65537" in str(c) and 65537 not in c.shapes[name]]
        assert any({0, 65536} <= {*inputs_of(case, load(op))[name].flat} for case in few), op


def test_equal_slices_of_a_reduced_axis_count_each():
    def counted_once(x, *, dim, correction, keepdim):
        axes = (dim,) if isinstance(dim, int) else tuple(range(x.ndim)) if dim is None else dim
        alike = [a for a in axes if x.strides[a] == 0 and x.shape[a] > 1]
        n = np.prod([1 if a in alike else x.shape[a] for a in axes])
        y = np.var(x, axis=dim, keepdims=keepdim) * _F32(n / (n - correction))
        return [np.asarray(y, _F32)]

    case = "var[x=5x3x7;dim=(0,2);f32;layout=broadcast]"
    assert case in map(str, listed_cases("var"))
    assert judged(Kernel(counted_once), case, "forward").verdict == "WRONG_VALUE"
    assert judged(Kernel(counted_once), case.replace("broadcast", "gapped"), "forward").verdict == "PASS"
