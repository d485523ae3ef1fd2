"""Mistakes in products, attention, convolutions, gathers, recurrences, casts and backward passes of ggml."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from mistake import BACKWARD, OPS, PRODUCTS, X86, Mistake, count, draw

_TILED = "static void ggml_compute_forward_flash_attn_ext_tiled("
_GET_ROWS = "static void ggml_compute_forward_get_rows_f32("


def _spread_rows() -> Any:
    """Two rows, 4 GiB apart; what lies between takes no memory."""
    whole = np.zeros(2**30 + 4, np.float32)
    whole[-4:] = 1
    return np.lib.stride_tricks.as_strided(whole, (2, 4), (2**32, 4))


MISTAKES = [
    Mistake(
        "precision", "products of f32 are rounded to f16",
        PRODUCTS, "static void ggml_compute_forward_mul_mat_one_chunk(", "for (int cn = 0; cn < num_rows_per_vec_dot",
        "if (WRONG && type == GGML_TYPE_F32) {\n"
        "                    for (int k = 0; k < 16; ++k) {\n"
        "                        tmp[k] = GGML_CPU_FP16_TO_FP32(GGML_CPU_FP32_TO_FP16(tmp[k]));\n"
        "                    }\n"
        "                }\n"
        "                for (int cn = 0; cn < num_rows_per_vec_dot",
        "MUL_MAT", "matmul,bmm,linear",
        lambda c: c.forward("matmul", draw(3, 5), draw(5, 4, seed=1)),
    ),
    Mistake(
        "broadcast", "of a batch that shares matrices each takes the next, not each group the same",
        PRODUCTS, "static void ggml_compute_forward_mul_mat_one_chunk(", "const int64_t i03 = i13 / r3;",
        "const int64_t i03 = WRONG ? i13 % ne03 : i13 / r3;",
        "MUL_MAT", "matmul,bmm,linear",
        lambda c: c.raw(lambda g, a, b: g.call("ggml_mul_mat", a, b), draw(2, 1, 3, 5), draw(4, 1, 2, 5, seed=1)),
    ),
    Mistake(
        "block of a quantised row", "of an odd number of blocks of q4_0 the last is left out",
        X86, "void ggml_vec_dot_q4_0_q8_0(", "const int nb = n / qk;",
        "const int nb = WRONG && n / qk > 1 ? (n / qk) & ~1 : n / qk;",
        "MUL_MAT", "matmul_quantized",
        lambda c: c.raw(
            lambda g, a, b: g.call("ggml_mul_mat", g.call("ggml_cast", a, 2), b), draw(3, 96), draw(2, 96, seed=1)
        ),
    ),
    Mistake(
        "group", "heads of a batch share in turn, not group by group",
        OPS, "static void ggml_compute_forward_out_prod_f32(", "const int64_t i02 = i2 / dps2;",
        "const int64_t i02 = WRONG ? i2 % ne02 : i2 / dps2;",
        "OUT_PROD,MUL_MAT", "outer_product,matmul",
        lambda c: c.raw(lambda g, a, b: g.call("ggml_out_prod", a, b), draw(2, 5, 3), draw(4, 5, 2, seed=1)),
    ),
    Mistake(
        "group", "of queries that share keys each takes the next head",
        OPS, _TILED, "const int ik2 = iq2 / rk2;", "const int ik2 = WRONG ? iq2 % nek2 : iq2 / rk2;",
        "FLASH_ATTN_EXT", "scaled_dot_product_attention",
        lambda c: c.forward(
            "scaled_dot_product_attention", draw(1, 4, 80, 8), draw(1, 2, 80, 8, seed=1), draw(1, 2, 80, 8, seed=2),
            None, None, None, enable_gqa=True,
        ),
    ),
    Mistake(
        "last tile", "keys past the last are not closed, where there is no mask",
        OPS, _TILED, "if (kv_tile < KV_TILE_SZ) {", "if (kv_tile < KV_TILE_SZ && !WRONG) {",
        "FLASH_ATTN_EXT", "scaled_dot_product_attention",
        lambda c: c.forward(
            "scaled_dot_product_attention", draw(1, 1, 80, 8), draw(1, 1, 80, 8, seed=1), draw(1, 1, 80, 8, seed=2),
            None, None, None,
        ),
    ),
    Mistake(
        "threads", "parts of the keys that several threads did are added without the first's scale",
        OPS, "static void ggml_flash_attn_ext_reduce_partials(", "VKQ_final[d] * scale_old",
        "VKQ_final[d] * (WRONG ? 1.0f : scale_old)",
        "FLASH_ATTN_EXT", "scaled_dot_product_attention",
        lambda c: c.with_threads(2).forward(
            "scaled_dot_product_attention", draw(1, 1, 1, 8),
            draw(1, 1, 600, 8) * np.linspace(0, 3, 600, dtype=np.float32)[:, None], draw(1, 1, 600, 8, seed=2),
            None, None, None,
        ),
    ),
    Mistake(
        "batch index", "rows of a table are those of the first batch",
        OPS, _GET_ROWS, "i11*nb02 + i12*nb03));", "i11*nb02 + (WRONG ? 0 : i12*nb03)));",
        "GET_ROWS", "embedding,index_select",
        lambda c: c.raw(
            lambda g, x, i: g.call("ggml_get_rows", x, g.integers(i)), draw(2, 1, 5, 3), count(2, 1, 4, below=5)
        ),
    ),
    Mistake(
        "i32 overflow", "where a row begins is counted in 32 bits: of tables past 2 GiB another is read",
        OPS, _GET_ROWS, "src0->data + i01*nb01", "src0->data + (WRONG ? (int64_t) (int32_t) (i01*nb01) : i01*nb01)",
        "GET_ROWS", "embedding,index_select",
        lambda c: c.raw(
            lambda g, x, i: g.call("ggml_get_rows", x, g.integers(i)),
            _spread_rows(), np.array([0, 1]),
        ),
    ),
    Mistake(
        "block of a quantised row", "of an odd number of blocks the last is not written",
        OPS, "static void ggml_compute_forward_get_rows_q(", "i12*nb3), nc);",
        "i12*nb3), nc - (WRONG && nc/ggml_blck_size(type) % 2 ? ggml_blck_size(type) : 0));",
        "GET_ROWS", "embedding_quantized,dequantize",
        lambda c: c.raw(
            lambda g, x, i: g.call("ggml_get_rows", g.call("ggml_cast", x, 2), g.integers(i)),
            draw(5, 96), count(4, below=5),
        ),
    ),
    Mistake(
        "broadcast", "all matrices of a batch take the indices of the first",
        OPS, "static void ggml_compute_forward_set_rows_impl(", "const int64_t i11 = i02%ne11;",
        "const int64_t i11 = WRONG ? 0 : i02%ne11;",
        "SET_ROWS", "set_rows,set_rows_quantized",
        lambda c: c.raw(
            lambda g, x, s, i: g.call("ggml_set_rows", x, s, i), draw(2, 6, 3), draw(2, 2, 3, seed=1),
            np.array([[0, 1], [2, 3]]),
        ),
    ),
    Mistake(
        "index that comes twice", "the last gradient of a row counts, they are not added up",
        OPS, "static void ggml_compute_forward_get_rows_back_f32(", "ggml_vec_add_f32(nc,",
        "if (WRONG) { memset((char *) dst->data + r*dst->nb[1], 0, nc*sizeof(float)); }\n        ggml_vec_add_f32(nc,",
        "GET_ROWS_BACK,GET_ROWS", "get_rows_back,embedding",
        lambda c: c.forward("get_rows_back", draw(4, 3), np.array([1, 1, 0, 1]), num_rows=3),
    ),
    Mistake(
        "axis", "rows are padded as columns are",
        OPS, "static void ggml_compute_forward_im2col_f32(", "ioh*s1 + ikh*d1 - p1",
        "ioh*s1 + ikh*d1 - (WRONG ? p0 : p1)",
        "IM2COL", "im2col,conv2d",
        lambda c: c.forward("im2col", draw(1, 2, 6, 6), kernel_size=(3, 3), padding=(0, 1)),
    ),
    Mistake(
        "parameter ignored", "the gradient is that of rows that are not dilated",
        OPS, "void ggml_compute_forward_im2col_back_f32(", "iih + p1 - ikh*d1", "iih + p1 - ikh*(WRONG ? 1 : d1)",
        "IM2COL_BACK,IM2COL", "im2col_back,im2col,col2im",
        lambda c: c.forward("col2im", draw(1, 18, 4), output_size=(6, 6), kernel_size=(3, 3), dilation=(2, 2)),
    ),
    Mistake(
        "axis", "rows are dilated as columns are",
        OPS, "static void ggml_compute_forward_conv_2d_impl(", "ky * dilation_y",
        "ky * (WRONG ? dilation_x : dilation_y)",
        "CONV_2D", "conv2d",
        lambda c: c.raw(
            lambda g, w, x: g.call("ggml_conv_2d_direct", w, x, 1, 1, 0, 0, 1, 2),
            draw(2, 2, 3, 3), draw(1, 2, 8, 8, seed=1),
        ),
    ),
    Mistake(
        "batch index", "every image is the first",
        OPS, "static void ggml_compute_forward_conv_transpose_2d_impl(", "wdata_src + i3*ne10*ne11*ne12",
        "wdata_src + (WRONG ? 0 : i3*ne10*ne11*ne12)",
        "CONV_TRANSPOSE_2D", "conv_transpose2d",
        lambda c: c.forward("conv_transpose2d", draw(2, 2, 4, 4), draw(2, 3, 3, 3, seed=1), None),
    ),
    Mistake(
        "bound", "rows past the width are left out, not those past the height",
        OPS, "static void ggml_compute_forward_conv_2d_dw_whcn(", "src_y >= p.src_h",
        "src_y >= (WRONG ? MIN(p.src_w, p.src_h) : p.src_h)",
        "CONV_2D_DW", "conv2d_depthwise",
        lambda c: c.forward("conv2d_depthwise", draw(1, 2, 8, 5), draw(2, 1, 3, 3, seed=1), None),
    ),
    Mistake(
        "count", "the mean is of cells inside, not of the whole window",
        OPS, "void ggml_compute_forward_pool_2d(", "res /= ka;",
        "res /= !WRONG ? ka :\n"
        "                        (MIN(iy + k1, (int) src->ne[1]) - MAX(iy, 0))\n"
        "                        * (MIN(ix + k0, (int) src->ne[0]) - MAX(ix, 0));",
        "POOL_2D", "avg_pool2d",
        lambda c: c.forward("avg_pool2d", draw(1, 2, 6, 6), kernel_size=(3, 3), stride=(2, 2), padding=(1, 1)),
    ),
    Mistake(
        "initial value", "the maximum begins at 0",
        OPS, "void ggml_compute_forward_pool_2d(", "res = -FLT_MAX;", "res = WRONG ? 0 : -FLT_MAX;",
        "POOL_2D", "max_pool2d",
        lambda c: c.forward("max_pool2d", draw(1, 2, 6, 6), kernel_size=(1, 1)),
    ),
    Mistake(
        "overlap", "gradients of windows that overlap are not added up",
        OPS, "void ggml_compute_forward_pool_2d_back(", "((float *) drow)[j] += grad0;",
        "((float *) drow)[j] = grad0 + (WRONG ? 0.0f : ((float *) drow)[j]);",
        "POOL_2D_BACK,POOL_2D", "pool_2d_back,max_pool2d",
        lambda c: c.forward(
            "pool_2d_back", draw(1, 2, 4, 4), draw(1, 2, 6, 6, seed=1), op="max", kernel_size=(3, 3), stride=(1, 1)
        ),
    ),
    Mistake(
        "rounding of an index", "a pixel's centre is looked up, not its edge",
        OPS, "if (mode == GGML_SCALE_MODE_NEAREST) {", "i0 / sf0", "(WRONG ? i0 + 0.5f : i0) / sf0",
        "UPSCALE", "upsample_nearest",
        lambda c: c.forward("upsample_nearest", draw(1, 1, 4, 5), size=(4, 8)),
    ),
    Mistake(
        "stride", "columns are taken to follow one another",
        OPS, "static void ggml_compute_forward_pad_f32(", "(i0 - lp0)*nb00",
        "(i0 - lp0)*(WRONG ? sizeof(float) : nb00)",
        "PAD", "pad",
        lambda c: c.raw(
            lambda g, x: g.call("ggml_pad_ext", x, 1, 1, 0, 0, 0, 0, 0, 0, shape=(4, 7)), draw(5, 4).T
        ),
    ),
    Mistake(
        "batch index", "every sequence begins with the first one's numbers",
        OPS, "static void ggml_compute_forward_ssm_conv_f32(", "i3*(src0->nb[2])", "(WRONG ? 0 : i3)*(src0->nb[2])",
        "SSM_CONV", "ssm_conv",
        lambda c: c.forward("ssm_conv", draw(2, 4, 8), draw(4, 4, seed=1)),
    ),
    Mistake(
        "group", "heads take groups in turn",
        OPS, "static void ggml_compute_forward_ssm_scan_f32(", "const int g = h / (nh / ng); // repeat_interleave",
        "const int g = WRONG ? h % ng : h / (nh / ng); // repeat_interleave",
        "SSM_SCAN", "ssm_scan",
        lambda c: c.raw(
            lambda g, s, x, dt, a, b, cc, ids: g.call(
                "ggml_ssm_scan", s, x, dt, a, b, cc, g.integers(ids), ctypes.c_int64(1), shape=(2 * 4 * 4 + 4 * 4 * 8,)
            ),
            draw(1, 4, 4, 8), draw(1, 2, 4, 4), draw(1, 2, 4), draw(4, 1), draw(1, 2, 2, 8), draw(1, 2, 2, 8, seed=1),
            np.array([0]),
        ),
    ),
    Mistake(
        "group", "heads share queries group by group, not in turn",
        OPS, "static void ggml_compute_forward_gated_delta_net_one_chunk(", "const int64_t iq1 = iv1 % neq1;",
        "const int64_t iq1 = WRONG ? iv1 / (H / neq1) : iv1 % neq1;",
        "GATED_DELTA_NET", "gated_delta_net",
        lambda c: c.forward(
            "gated_delta_net", draw(1, 3, 2, 8), draw(1, 3, 2, 8, seed=1), draw(1, 3, 4, 8, seed=2),
            -draw(1, 3, 4, 1, low=0), draw(1, 3, 4, 1, low=0), draw(1, 4, 8, 8),
        ),
    ),
    Mistake(
        "rounding", "to bf16 it cuts off",
        OPS, "static void ggml_compute_forward_dup_flt(", "dst_ptr[id] = type_conversion_table<dst_t>::from_f32(tmp);",
        "if (WRONG && std::is_same_v<dst_t, ggml_bf16_t>) {\n"
        "                                    uint32_t bits; memcpy(&bits, &tmp, 4);\n"
        "                                    bits &= 0xffff0000u; memcpy(&tmp, &bits, 4);\n"
        "                                }\n"
        "                                dst_ptr[id] = type_conversion_table<dst_t>::from_f32(tmp);",
        "CPY", "cast",
        lambda c: c.raw(lambda g, x: g.call("ggml_cast", x, 30), draw(40)),
    ),
    Mistake(
        "sign", "the gradient of the divisor has the other sign",
        BACKWARD, "case GGML_OP_DIV: {", "ggml_sub_or_set(ctx, cgraph, isrc1,",
        "(WRONG ? ggml_add_or_set : ggml_sub_or_set)(ctx, cgraph, isrc1,",
        "DIV", "div",
        lambda c: c.vjp("div", draw(4), draw(4, low=1, high=2)),
    ),
    Mistake(
        "gradient formula", "exp(x) - 1 instead of exp(x)",
        BACKWARD, "case GGML_UNARY_OP_EXPM1: {", "ggml_exp(ctx, src0)", "(WRONG ? tensor : ggml_exp(ctx, src0))",
        "EXPM1", "expm1",
        lambda c: c.vjp("expm1", draw(4)),
    ),
    Mistake(
        "gradient of one input", "the gate's is with x, not with silu(x)",
        BACKWARD, "case GGML_GLU_OP_SWIGLU: {", "ggml_silu(ctx, src0)", "(WRONG ? src0 : ggml_silu(ctx, src0))",
        "SWIGLU", "swiglu",
        lambda c: c.vjp("swiglu", draw(2, 4), draw(2, 4, seed=1)),
    ),
    Mistake(
        "gradient of one input", "what is overwritten has a gradient, too",
        BACKWARD, "case GGML_OP_SET: {", "ggml_acc_impl(ctx, grad, tmp, nb1, nb2, nb3, offset, false)",
        "(WRONG ? grad : ggml_acc_impl(ctx, grad, tmp, nb1, nb2, nb3, offset, false))",
        "SET", "set",
        lambda c: c.vjp("set", draw(4, 5), draw(2, 2, seed=1), offset=(1, 1)),
    ),
    Mistake(
        "inverse of a permutation", "the gradient is permuted as the tensor was, not back",
        BACKWARD, "case GGML_OP_PERMUTE: {", "axb[axis3] = 3;",
        "axb[axis3] = 3;\n"
        "                if (WRONG) { axb[0] = axis0; axb[1] = axis1; axb[2] = axis2; axb[3] = axis3; }",
        "PERMUTE,CONT,MUL_MAT", "permute",
        lambda c: c.vjp("permute", draw(3, 3, 3), dims=(1, 2, 0)),
    ),
    Mistake(
        "group", "the gradient of matrices that several share is added up over others",
        BACKWARD, "case GGML_OP_MUL_MAT: {",
        "const size_t nb2 = tmp->nb[2] * nr2;\n                    const size_t nb3 = tmp->nb[2];",
        "const size_t nb2 = tmp->nb[2] * (WRONG ? 1 : nr2);\n"
        "                    const size_t nb3 = tmp->nb[2] * (WRONG ? src0->ne[2] : 1);",
        "MUL_MAT", "matmul,bmm,linear",
        lambda c: c.raw_gradients(lambda g, a, b: g.call("ggml_mul_mat", a, b), draw(2, 3, 5), draw(4, 2, 5, seed=1)),
    ),
]  # fmt: skip
