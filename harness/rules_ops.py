"""Which operators a rule of cases applies to: families, by name where no signature tells them."""

from __future__ import annotations

from opproof.reference_ops import Op, names

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
    "cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss bce_with_logits kl_div cross_entropy_loss_back".split()
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
    "conv2d conv2d_depthwise conv3d conv_transpose2d im2col im2col_3d im2col_back col2im max_pool2d avg_pool2d pool_2d_back "
    "adaptive_avg_pool2d upsample_nearest upsample_bilinear upsample_bicubic pixel_shuffle window_partition "
    "window_unpartition".split()
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
#: Whose values say nothing: shape, memory or bytes are everything.
NO_FLOATS = frozenset("arange one_hot dequantize embedding_quantized".split())


def unary() -> frozenset[str]:
    """Elementwise operators of one tensor x, told by what they lack."""
    return frozenset(names()) & frozenset(_UNARY)


_UNARY = (
    "abs neg sign step square sqrt rsqrt reciprocal log log2 log1p exp exp2 expm1 sin cos tan tanh sinh cosh asin acos atan "
    "sigmoid logsigmoid erf floor ceil round trunc relu relu6 leaky_relu elu celu selu gelu gelu_quick silu hardswish "
    "hardsigmoid hardtanh hardshrink softshrink tanhshrink softplus softsign mish xielu clamp threshold scale"
).split()


def has_float(op: Op) -> bool:
    """Whether some tensor of the operator is a float."""
    return op.name not in NO_FLOATS
