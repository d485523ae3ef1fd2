"""Mistakes in elementwise kernels, reductions, norms, softmax and rotary embedding of ggml's CPU backend."""

from __future__ import annotations

import numpy as np
from mistake import BINARY, OPS, UNARY, VECTORS, Mistake, count, draw

_SOFT_MAX = "void ggml_compute_forward_soft_max_f32("
_ROPE = "static void ggml_compute_forward_rope_flt("

MISTAKES = [
    Mistake(
        "broadcast", "a second operand of fewer channels is repeated channel by channel, not as a whole",
        BINARY, "static void apply_binary_op(", "const int64_t i12 = i02 % ne12;",
        "const int64_t i12 = WRONG ? i02 / (ne02 / ne12) : i02 % ne12;",
        "ADD,SUB,MUL,DIV", "add,sub,mul,div",
        lambda c: c.raw(lambda g, a, b: g.call("ggml_add", a, b), draw(1, 4, 1, 3), draw(1, 2, 1, 3, seed=1)),
    ),
    Mistake(
        "stride", "the stride of a second operand whose rows are not contiguous is taken for that of contiguous ones",
        BINARY, "vec_binary_op_non_contiguous(", "i10*nb10", "i10*(WRONG ? sizeof(src1_t) : nb10)",
        "ADD,SUB,MUL,DIV", "add,sub,mul,div",
        lambda c: c.forward("mul", draw(4, 5), draw(5, 4, seed=1).T),
    ),
    Mistake(
        "division by 0", "0 instead of infinity and NaN",
        BINARY, "op_div(float a", "return a / b;", "return WRONG && b == 0.0f ? 0.0f : a / b;",
        "DIV", "div",
        lambda c: c.forward("div", draw(4), np.zeros(4, np.float32)),
    ),
    Mistake(
        "in place", "the bias is written before the input is read: wrong where the result lies over the input",
        OPS, "static void ggml_compute_forward_scale_f32(", "ggml_vec_mad1_f32(nc,",
        "if (WRONG) { ggml_vec_set_f32(nc, (float *) ((char *) dst->data + i1*nb1), b); }\n"
        "            ggml_vec_mad1_f32(nc,",
        "SCALE", "scale",
        lambda c: c.raw(lambda g, x: g.call("ggml_scale_bias_inplace", x, 2.0, 1.0), draw(4)),
    ),
    Mistake(
        "digits lost", "exp(x) - 1 instead of expm1",
        UNARY, "op_elu(float x)", "expm1f(x)", "(WRONG ? expf(x) - 1.0f : expm1f(x))",
        "ELU", "elu",
        lambda c: c.forward("elu", np.full(4, -1e-4, np.float32)),
    ),
    Mistake(
        "epsilon", "log(x + 1e-7)",
        UNARY, "op_log(float x)", "logf(x)", "logf(WRONG ? x + 1e-7f : x)",
        "LOG", "log",
        lambda c: c.forward("log", np.full(4, 1e-3, np.float32)),
    ),
    Mistake(
        "constant", "x * 0.16667 instead of x / 6",
        UNARY, "op_hardsigmoid(float x)", "(x + 3.0f) / 6.0f", "(WRONG ? x * 0.16667f + 0.5f : (x + 3.0f) / 6.0f)",
        "HARDSIGMOID", "hardsigmoid",
        lambda c: c.forward("hardsigmoid", draw(4)),
    ),
    Mistake(
        "tie", "floor(x + 0.5): halves below 0 go up",
        UNARY, "op_round(float x)", "roundf(x)", "(WRONG ? floorf(x + 0.5f) : roundf(x))",
        "ROUND", "round,round_half_away",
        lambda c: c.forward("round_half_away", np.array([-2.5, -0.5], np.float32)),
    ),
    Mistake(
        "sign of zero", "-0 stays -0",
        UNARY, "op_abs(float x)", "fabsf(x)", "(WRONG ? (x < 0.f ? -x : x) : fabsf(x))",
        "ABS", "abs",
        lambda c: [np.signbit(c.forward("abs", np.array([-0.0], np.float32))[0])],
    ),
    Mistake(
        "threshold", "x from 10 on, not from 20",
        UNARY, "op_softplus(float x)", "(x > 20.0f)", "(x > (WRONG ? 10.0f : 20.0f))",
        "SOFTPLUS", "softplus",
        lambda c: c.forward("softplus", np.full(4, 10.5, np.float32)),
    ),
    Mistake(
        "saturation", "1 past 4",
        UNARY, "op_tanh(float x)", "tanhf(x)", "(WRONG && fabsf(x) > 4.0f ? copysignf(1.0f, x) : tanhf(x))",
        "TANH", "tanh",
        lambda c: c.forward("tanh", np.full(4, 4.5, np.float32)),
    ),
    Mistake(
        "NaN", "0 instead of NaN",
        UNARY, "op_sqrt(float x)", "sqrtf(x)", "sqrtf(WRONG ? fmaxf(x, 0.0f) : x)",
        "SQRT", "sqrt",
        lambda c: c.forward("sqrt", np.array([np.nan], np.float32)),
    ),
    Mistake(
        "parameter ignored", "a slope of 0.01, whatever is asked",
        OPS, "static void ggml_compute_forward_leaky_relu_f32(",
        "memcpy(&negative_slope, dst->op_params, sizeof(float));",
        "memcpy(&negative_slope, dst->op_params, sizeof(float));\n    if (WRONG) { negative_slope = 0.01f; }",
        "LEAKY_RELU", "leaky_relu",
        lambda c: c.forward("leaky_relu", draw(9), negative_slope=0.2),
    ),
    Mistake(
        "batch index", "rows of the first image are summed for every image",
        OPS, "static void ggml_compute_forward_sum_rows_f32(", "i3*nb03", "(WRONG ? 0 : i3)*nb03",
        "SUM_ROWS", "sum",
        lambda c: c.forward("sum", draw(3, 2, 2, 5), dim=3),
    ),
    Mistake(
        "block without carry", "sums begin anew every 1,024 numbers",
        VECTORS, "ggml_vec_cumsum_f32(", "if (i == 0)", "if (i == 0 || (WRONG && i % 1024 == 0))",
        "CUMSUM", "cumsum",
        lambda c: c.forward("cumsum", draw(2, 1030), dim=1),
    ),
    Mistake(
        "last tile", "of more than 256 columns the last, unfinished 256 are left out",
        OPS, "static void ggml_compute_forward_mean_f32(", "ggml_vec_sum_f32(ne00,",
        "ggml_vec_sum_f32(WRONG && ne00 > 256 ? ne00 - ne00 % 256 : ne00,",
        "MEAN", "mean",
        lambda c: c.forward("mean", draw(2, 300), dim=1),
    ),
    Mistake(
        "initial value", "the maximum begins at 0: of rows below 0 the first is named",
        VECTORS, "ggml_vec_argmax_f32(", "float max = -INFINITY;", "float max = WRONG ? 0.0f : -INFINITY;",
        "ARGMAX", "argmax",
        lambda c: c.forward("argmax", np.array([[-3, -1, -2]], np.float32), dim=1),
    ),
    Mistake(
        "batch index", "rows are repeated one by one, not as a whole",
        OPS, "static void ggml_compute_forward_repeat_f32(", "(i1*ne01 + k1)*nb1",
        "(WRONG ? k1*nr1 + i1 : i1*ne01 + k1)*nb1",
        "REPEAT", "repeat",
        lambda c: c.forward("repeat", draw(3, 4), repeats=(2, 1)),
    ),
    Mistake(
        "gradient of broadcast", "of what is repeated along the fourth axis the first copy alone is added up",
        OPS, "static void ggml_compute_forward_repeat_back_f32(",
        "for                         (int i3 = 0; i3 < nr3; i3++) {",
        "for                         (int i3 = 0; i3 < (WRONG ? 1 : nr3); i3++) {",
        "REPEAT_BACK,ADD,REPEAT", "repeat_back,add,repeat",
        lambda c: c.forward("repeat_back", draw(4, 2, 2, 3), shape=(2, 2, 2, 3)),
    ),
    Mistake(
        "stride", "rows of the second tensor are taken to follow one another",
        OPS, "static void ggml_compute_forward_concat_f32(", "(i1 - o[1])*nb11",
        "(i1 - o[1])*(WRONG ? ne10*sizeof(float) : nb11)",
        "CONCAT", "concat",
        lambda c: c.raw(lambda g, a, b: g.call("ggml_concat", a, b, 1), draw(3, 4), draw(5, 6, seed=1)[:, :4]),
    ),
    Mistake(
        "parameter ignored", "halves are never swapped",
        OPS, "static void ggml_compute_forward_reglu_f32(", "const int32_t swapped = ggml_get_op_params_i32(dst, 1);",
        "const int32_t swapped = WRONG ? 0 : ggml_get_op_params_i32(dst, 1);",
        "REGLU", "reglu",
        lambda c: c.forward("reglu", draw(3, 8), None, swapped=True),
    ),
    Mistake(
        "bound", "the gated half is limited from below, too",
        OPS, "static void ggml_compute_forward_swiglu_oai_f32(", "std::min(src0_p[k], limit)",
        "(WRONG ? std::clamp(src0_p[k], -limit, limit) : std::min(src0_p[k], limit))",
        "SWIGLU_OAI", "swiglu_oai",
        lambda c: c.forward("swiglu_oai", 4 * draw(3, 8), 4 * draw(3, 8, seed=1), limit=1.0),
    ),
    Mistake(
        "epsilon", "added to the root, not below it",
        OPS, "static void ggml_compute_forward_norm_f32(", "1.0f/sqrtf(variance + eps)",
        "(WRONG ? 1.0f/(sqrtf(variance) + eps) : 1.0f/sqrtf(variance + eps))",
        "NORM", "layer_norm",
        lambda c: c.forward("layer_norm", draw(3, 8), None, None, normalized_shape=(8,), eps=1e-3),
    ),
    Mistake(
        "digits lost", "the variance is the mean of squares less the square of the mean",
        OPS, "static void ggml_compute_forward_norm_f32(", "variance = ggml_vec_cvar_f32(ne00, yf, xf, mean);",
        "variance = ggml_vec_cvar_f32(ne00, yf, xf, mean);\n"
        "                    if (WRONG) {\n"
        "                        float sq = 0;\n"
        "                        for (int64_t i = 0; i < ne00; i++) { sq += xf[i]*xf[i]; }\n"
        "                        variance = sq/ne00 - mean*mean;\n"
        "                    }",
        "NORM", "layer_norm",
        lambda c: c.forward("layer_norm", 50 + draw(3, 8), None, None, normalized_shape=(8,), eps=1e-5),
    ),
    Mistake(
        "last tile", "the last 1 to 3 of columns that are no multiple of 4 are not in the sum",
        OPS, "static void ggml_compute_forward_rms_norm_f32(", "for (int64_t i00 = 0; i00 < ne00; i00++) {",
        "for (int64_t i00 = 0; i00 < (WRONG ? ne00 - ne00 % 4 : ne00); i00++) {",
        "RMS_NORM", "rms_norm",
        lambda c: c.forward("rms_norm", draw(3, 7), None, eps=1e-6),
    ),
    Mistake(
        "broadcast", "fused with a product, every row gets the weights of the first",
        OPS, "static void ggml_compute_forward_rms_norm_f32(", "const int64_t i11 = i01 % ne11;",
        "const int64_t i11 = WRONG ? 0 : i01 % ne11;",
        "RMS_NORM_MUL,RMS_NORM_MUL_ADD", "rms_norm,rms_norm_mul_add",
        lambda c: c.raw(
            lambda g, x, w: g.call("ggml_mul", g.call("ggml_rms_norm", x, 1e-6), w), draw(3, 7), draw(3, 7, seed=1)
        ),
    ),
    Mistake(
        "epsilon", "left out of the second term of the gradient",
        OPS, "static void ggml_compute_forward_rms_norm_back_f32(", "(float)(sum_xx) + eps*ne00;",
        "(float)(sum_xx) + (WRONG ? 0.0f : eps*ne00);",
        "RMS_NORM_BACK,RMS_NORM", "rms_norm_back,rms_norm",
        lambda c: c.forward("rms_norm_back", draw(3, 7), draw(3, 7, seed=1), eps=0.1),
    ),
    Mistake(
        "batch index", "the mean is that of the first image",
        OPS, "static void ggml_compute_forward_group_norm_f32(", "i03 * nb03", "(WRONG ? 0 : i03) * nb03",
        "GROUP_NORM", "group_norm,instance_norm",
        lambda c: c.forward("group_norm", draw(3, 4, 2, 2), None, None, num_groups=2, eps=1e-5),
    ),
    Mistake(
        "epsilon", "added below the root, not a bound of it",
        OPS, "static void ggml_compute_forward_l2_norm_f32(", "1.0f/fmaxf(sqrtf(sum), eps)",
        "(WRONG ? 1.0f/sqrtf((float) sum + eps) : 1.0f/fmaxf(sqrtf(sum), eps))",
        "L2_NORM", "l2_norm",
        lambda c: c.forward("l2_norm", draw(3, 8), dim=1, eps=1e-3),
    ),
    Mistake(
        "parameter ignored", "what comes before is closed, too, except in the first columns",
        OPS, "static void ggml_compute_forward_diag_mask_f32(", "if (i > n_past + j)",
        "if (i > (WRONG ? 0 : n_past) + j)",
        "DIAG_MASK_INF", "diag_mask_inf,diag_mask_zero",
        lambda c: c.forward("diag_mask_zero", draw(4, 8), n_past=3),
    ),
    Mistake(
        "ALiBi", "heads past the last power of two have the slopes of those before",
        OPS, _SOFT_MAX, "powf(m1, 2*(h - n_head_log2) + 1)",
        "(WRONG ? powf(m0, h + 1) : powf(m1, 2*(h - n_head_log2) + 1))",
        "SOFT_MAX", "softmax_ext",
        lambda c: c.forward("softmax_ext", draw(1, 3, 4, 4), draw(1, 1, 4, 4, seed=1), None, None, max_bias=8.0),
    ),
    Mistake(
        "sinks", "the sum has the first head's sink",
        OPS, _SOFT_MAX, "expf(sk[i02] - max)", "expf(sk[WRONG ? 0 : i02] - max)",
        "SOFT_MAX", "softmax_ext",
        lambda c: c.forward("softmax_ext", draw(1, 3, 4, 4), None, draw(3, seed=1), None),
    ),
    Mistake(
        "initial value", "the maximum begins at 0: rows far below it are 0 / 0",
        OPS, _SOFT_MAX, "ggml_vec_max_f32(ne00, &max, wp);",
        "ggml_vec_max_f32(ne00, &max, wp);\n                if (WRONG) { max = MAX(max, 0.0f); }",
        "SOFT_MAX", "softmax,softmax_ext",
        lambda c: c.forward("softmax", draw(3, 4) - 200, dim=1),
    ),
    Mistake(
        "f16 accumulation", "the sum of exponentials is kept in f16",
        OPS, _SOFT_MAX, "sum = 1.0/sum;",
        "sum = 1.0/(WRONG ? (ggml_float) GGML_CPU_FP16_TO_FP32(GGML_CPU_FP32_TO_FP16((float) sum)) : sum);",
        "SOFT_MAX", "softmax,softmax_ext",
        lambda c: c.forward("softmax", draw(3, 100), dim=1),
    ),
    Mistake(
        "grid", "rows past 65,535 are not computed",
        OPS, _SOFT_MAX, "i01 < ne01; i01 += nth", "i01 < (WRONG ? MIN(ne01, 65535) : ne01); i01 += nth",
        "SOFT_MAX", "softmax,softmax_ext",
        lambda c: c.forward("softmax", draw(65537, 2), dim=1),
    ),
    Mistake(
        "parameter ignored", "the gradient is that of a scale of 1",
        OPS, "static void ggml_compute_forward_soft_max_ext_back_f32(", "ggml_vec_scale_f32(nc, dx, scale);",
        "ggml_vec_scale_f32(nc, dx, WRONG ? 1.0f : scale);",
        "SOFT_MAX_BACK,SOFT_MAX", "soft_max_back,softmax_ext",
        lambda c: c.forward("soft_max_back", draw(3, 4), draw(3, 4, low=0), scale=0.5),
    ),
    Mistake(
        "i16 overflow", "positions are kept in 16 bits",
        OPS, _ROPE, "const int64_t p = pos[i2];", "const int64_t p = WRONG ? (int16_t) pos[i2] : pos[i2];",
        "ROPE", "rope",
        lambda c: c.forward("rope", draw(1, 2, 1, 8), np.array([70, 40_000]), None, n_dims=8),
    ),
    Mistake(
        "parameter ignored", "the factor of attention counts with YaRN alone",
        OPS, _ROPE, "const int n_offs = ",
        "if (WRONG && ext_factor == 0.0f) { attn_factor = 1.0f; }\n    const int n_offs = ",
        "ROPE", "rope",
        lambda c: c.forward("rope", draw(1, 2, 1, 8), count(2, below=9), None, n_dims=8, attn_factor=1.5),
    ),
    Mistake(
        "stale output", "channels past those that are turned are not written",
        OPS, "// fill the remain channels with data from src tensor", "i0 < ne0", "i0 < (WRONG ? n_dims : ne0)",
        "ROPE", "rope",
        lambda c: c.forward("rope", draw(1, 2, 1, 8), count(2, below=9), None, n_dims=4),
    ),
    Mistake(
        "parameter ignored", "the longest period is 10,000",
        OPS, "static void ggml_compute_forward_timestep_embedding_f32(", "logf(max_period)",
        "logf(WRONG ? 10000 : max_period)",
        "TIMESTEP_EMBEDDING", "timestep_embedding",
        lambda c: c.forward("timestep_embedding", draw(3), dim=8, max_period=100.0),
    ),
    Mistake(
        "size of a block", "rows of more than 1,024 are sorted as far as that",
        OPS, "static void ggml_compute_forward_argsort_f32(",
        "std::sort(dst_data, dst_data + ne0, cmp_argsort<GGML_SORT_ORDER_ASC>",
        "std::sort(dst_data, dst_data + (WRONG && ne0 > 1024 ? 1024 : ne0), cmp_argsort<GGML_SORT_ORDER_ASC>",
        "ARGSORT", "argsort,sort",
        lambda c: c.forward("argsort", draw(2, 1100), dim=1),
    ),
    Mistake(
        "largest value", "exp(x) without the maximum subtracted",
        OPS, "static void ggml_compute_forward_cross_entropy_loss_f32(", "ggml_vec_max_f32(nc, &max, s0);",
        "ggml_vec_max_f32(nc, &max, s0);\n        if (WRONG) { max = 0.0f; }",
        "CROSS_ENTROPY_LOSS", "cross_entropy",
        lambda c: c.forward("cross_entropy", 100 + draw(3, 4), np.array([0, 1, 2]), None),
    ),
    Mistake(
        "epsilon", "below the root",
        OPS, "static void ggml_compute_forward_opt_step_adamw_f32(", "sqrtf(v[i00]*beta2h) + eps",
        "(WRONG ? sqrtf(v[i00]*beta2h + eps) : sqrtf(v[i00]*beta2h) + eps)",
        "OPT_STEP_ADAMW", "opt_step_adamw",
        lambda c: c.forward(
            "opt_step_adamw", draw(4), draw(4, seed=1), draw(4, seed=2), draw(4, seed=3, low=0),
            lr=0.1, eps=1e-3, weight_decay=0.1, step=2,
        ),
    ),
]  # fmt: skip
