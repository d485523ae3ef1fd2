"""Which operators a rule of cases applies to: families, by name where no signature tells them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from opproof.reference_ops import Op

WINDOWED = frozenset(
    "conv1d conv2d conv2d_depthwise conv3d conv_transpose1d conv_transpose2d im2col im2col_3d im2col_back col2im "
    "max_pool1d max_pool2d avg_pool1d avg_pool2d pool_2d_back".split()
)
CONVOLUTIONS = frozenset("conv1d conv2d conv2d_depthwise conv3d conv_transpose1d conv_transpose2d".split())
CONTRACTIONS = frozenset("matmul linear bmm dot mul_mat_id matmul_quantized".split())
REDUCTIONS = frozenset(
    "sum mean prod amax amin var std norm logsumexp cumsum cumprod argmax argmin any all softmax log_softmax".split()
)
NORMALISATIONS = frozenset("layer_norm rms_norm group_norm instance_norm batch_norm l2_norm rms_norm_back".split())
LOSSES = frozenset(
    "cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss bce_with_logits kl_div "
    "cross_entropy_loss_back".split()
)
#: Sums whose length is the caller's: the error of low accumulation grows with it.
LONG_SUMS: frozenset[str] = (
    CONTRACTIONS | NORMALISATIONS | LOSSES
    | frozenset("sum mean var std norm logsumexp cumsum softmax log_softmax softmax_ext soft_max_back".split())
    | frozenset({"scaled_dot_product_attention"})
) - {"batch_norm", "matmul_quantized"}  # fmt: skip
ATTENTION = frozenset({"scaled_dot_product_attention", "softmax_ext"})
ROPE = frozenset({"rope", "rope_back"})
GROUPED = frozenset(CONVOLUTIONS - {"conv2d_depthwise"})
ORDERED = frozenset("amax amin argmax argmin sort argsort max_pool1d max_pool2d maximum minimum".split())
ROUNDING = frozenset("round floor ceil trunc".split())
PLANES = frozenset(
    "conv2d conv2d_depthwise conv3d conv_transpose2d im2col im2col_3d im2col_back col2im max_pool2d avg_pool2d "
    "pool_2d_back adaptive_avg_pool2d upsample_nearest upsample_bilinear upsample_bicubic pixel_shuffle "
    "window_partition window_unpartition".split()
)
POOLS = frozenset("max_pool1d max_pool2d avg_pool1d avg_pool2d".split())
RESIZES = frozenset("upsample_nearest upsample_bilinear upsample_bicubic adaptive_avg_pool2d".split())
INDEXED = frozenset(
    "embedding embedding_quantized get_rows_back gather take_along_dim index_select index_add scatter_add set_rows "
    "mul_mat_id add_id nll_loss cross_entropy".split()
)
BROADCASTING = frozenset(
    "add sub mul div pow fmod remainder floor_divide atan2 maximum minimum lerp where masked_fill eq ne lt le gt ge "
    "logical_and logical_or matmul".split()
)
#: Which have no float tensor.
NO_FLOATS = frozenset("arange one_hot dequantize embedding_quantized".split())

UNARY = frozenset(
    "abs neg sign step square sqrt rsqrt reciprocal log log2 log1p exp exp2 expm1 sin cos tan tanh sinh cosh asin acos "
    "atan sigmoid logsigmoid erf floor ceil round trunc relu relu6 leaky_relu elu celu selu gelu gelu_quick silu "
    "hardswish hardsigmoid hardtanh hardshrink softshrink tanhshrink softplus softsign mish xielu clamp threshold "
    "scale".split()
)
#: Elementwise operators that negative numbers lie outside of, or all look alike to.
_NOT_NEGATIVE = frozenset("log log2 sqrt rsqrt acos asin log1p step sign relu relu6 hardtanh".split())
NEGATIVE = (UNARY - _NOT_NEGATIVE) | frozenset("amax max_pool1d max_pool2d argmax softmax logsumexp".split())


def named(wanted: Iterable[str]) -> Callable[[Op], bool]:
    """These operators."""
    found = frozenset(wanted)
    return lambda op: op.name in found


def but(unwanted: str) -> Callable[[Op], bool]:
    """All operators but these."""
    left_out = frozenset(unwanted.split())
    return lambda op: op.name not in left_out


def floats_but(unwanted: str) -> Callable[[Op], bool]:
    """All operators of float tensors but these."""
    return but(f"{unwanted} {' '.join(NO_FLOATS)}")


def several_gradients(op: Op) -> bool:
    """Whether two tensors or more may have a gradient, as far as names tell."""
    plain = ("index", "indices", "ids", "target", "positions", "mask", "condition", "keep")
    left_out = ("nll_loss", "matmul_quantized")  # their second floats are constants
    return op.vjp is not None and len([n for n in op.tensors if n not in plain]) > 1 and op.name not in left_out


def multilinear(op: Op) -> bool:
    """Whether integers in give integers out, by sums that others may round."""
    return op.multilinear and not op.is_exact("forward") and op.name not in NO_FLOATS


#: All but those in which PyTorch, JAX and the formula rank or multiply NaN and infinity differently (0 x inf at the
#: edge of a window, a weight of 0), those without floats, and those whose every result one NaN reaches.
SPECIAL = floats_but(
    "topk max_pool1d max_pool2d pool_2d_back conv1d conv2d conv2d_depthwise conv3d conv_transpose1d conv_transpose2d "
    "upsample_bilinear upsample_bicubic lerp get_rows_back repeat_back opt_step_adamw soft_max_back rms_norm_back "
    "cross_entropy_loss_back silu_back scaled_dot_product_attention ssm_scan wkv6 wkv7 gated_linear_attn "
    "gated_delta_net batch_norm dot add1 solve_triangular matmul_quantized quantize count_equal kl_div"
)
#: All but sums of products, in which size is no special case, and what is bounded or discrete.
EXTREME = floats_but(
    "dot bmm matmul linear outer_product mul_mat_id matmul_quantized conv1d conv2d conv2d_depthwise conv3d lerp "
    "conv_transpose1d conv_transpose2d solve_triangular ssm_conv ssm_scan wkv6 wkv7 gated_linear_attn gated_delta_net "
    "acos asin all any eq ne lt le gt ge logical_and logical_or logical_not count_equal concat stack pad fill quantize "
    "fmod remainder scaled_dot_product_attention silu_back"
)
