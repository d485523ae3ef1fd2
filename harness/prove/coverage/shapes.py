"""Rules of shapes and memory: sizes, layouts, ranks, windows."""

from __future__ import annotations

from opproof.harness.prove.coverage import ops as on
from opproof.harness.prove.coverage.case import (
    Rule,
    alone,
    broadcasts,
    heads,
    layout,
    layout_parts,
    leading,
    not_involution,
    over,
    size,
    sizes,
    when,
)
from opproof.harness.prove.coverage.windows import fraction, groups, padded, remainder, uneven

_TENSORS = on.but("arange")
_WINDOWS_IN = on.WINDOWED - {"conv_transpose1d", "conv_transpose2d", "col2im", "im2col_back", "pool_2d_back"}
_ROWS = on.UNARY | (on.REDUCTIONS - {"prod", "cumprod"})

SIZES = (
    Rule("1-9", "an axis of 1 to 9", 25, _TENSORS, size((1, 9))),
    Rule("31-33", "an axis of 31 to 33", 25, _TENSORS, size((31, 33))),
    Rule("63-66", "an axis of 63 to 66", 25, _TENSORS, size((63, 66))),
    Rule(
        *("96+", "an axis of 96 to 132, 250 to 260 or 768", 25),
        on.but("arange upsample_nearest upsample_bilinear upsample_bicubic im2col_3d"),
        size((96, 132), (250, 260), (768, 768)),
    ),
    Rule(
        *("> 1024", "an axis longer than 1024", 12),
        on.but("arange gated_delta_net gated_linear_attn wkv6 wkv7"),
        size((1025, 10**9)),
        level="full",
    ),
    Rule(
        *("> 4096", "a row longer than 4096", 12),
        on.named(
            on.LONG_SUMS - on.LOSSES - on.NORMALISATIONS - {"mul_mat_id", "scaled_dot_product_attention", "bmm"}
            | {"layer_norm", "rms_norm", "l2_norm"}
        ),
        size((4097, 10**9)),
    ),
    Rule("> 12288", "a row longer than 12288", 12, on.named(_ROWS), size((12289, 10**9)), level="full"),
    Rule("> 65535 rows", "more than 65535 rows", 9, on.named(_ROWS), size((65536, 10**9)), level="full"),
    Rule(
        *("empty", "an axis of 0", 9),
        on.but("arange one_hot dequantize embedding_quantized matmul_quantized quantize as_strided get_rel_pos"),
        when(lambda case: 0 in sizes(case)),
    ),
    Rule(
        *("size 1", "a reduction over one element", 9),
        on.named(on.REDUCTIONS | on.NORMALISATIONS - {"batch_norm"}),
        when(lambda case: 1 in sizes(case)),
    ),
)

LAYOUTS = (
    *(
        Rule(name, f"every tensor {text}", 22, _TENSORS, layout(kind), layout_parts(kind))
        for name, kind, text in (
            ("transposed", "transposed", "transposed"),
            ("sliced", "sliced", "step-sliced"),
            ("gapped", "gapped", "with gaps between its rows"),
            ("offset", "offset", "off the start of its storage"),
            ("stride 0", "broadcast", "broadcast in memory"),
        )
    ),
    Rule("one strided", "one tensor strided, the others not", 22, lambda op: len(op.tensors) > 1, alone),
    Rule("contiguous", "all tensors contiguous", 22, _TENSORS, when(lambda case: case.layout == "contiguous")),
)

RANKS = (
    Rule(
        *("leading", "rank 3 or more, leading axes longer than 1 and distinct", 17),
        on.but("arange dot one_hot embedding_quantized diag get_rel_pos timestep_embedding window_unpartition"),
        when(leading),
    ),
    Rule("Hq, Hk", "more query heads than key heads", 17, on.named({"scaled_dot_product_attention"}), when(heads)),
    Rule(
        *("permutation", "a permutation that is not its own inverse", 9),
        on.named({"permute"}),
        when(lambda case: not_involution(case.kwargs["dims"])),
    ),
    Rule("repeated", "more indices than places, unsorted", 8, on.named(on.INDEXED), when(over)),
    Rule("broadcast", "operands of other shapes", 7, on.named(on.BROADCASTING), when(broadcasts)),
)

WINDOWS = (
    Rule("groups", "groups with stride on odd sizes", 12, on.named(on.GROUPED), when(groups)),
    Rule(
        *("dilation", "stride and dilation, one other than the other", 12),
        on.named(on.CONVOLUTIONS),
        when(lambda case: case.kwargs.get("dilation") not in (None, case.kwargs.get("stride", 1))),
    ),
    Rule(
        *("depthwise", "one channel a group", 12),
        on.named(on.GROUPED),
        when(lambda case: case.kwargs.get("groups", 1) == case.shapes["x"][1] > 1),
    ),
    Rule(
        *("H, W", "H above W and below it, kernels or parameters uneven too", 9),
        on.named(on.PLANES - {"pixel_shuffle", "window_partition", "window_unpartition"}),
        uneven,
        lambda op, cases: ("H > W", "W > H"),  # noqa: ARG005
    ),
    Rule("remainder", "(n + 2p - d(k-1) - 1) mod s other than 0", 9, on.named(_WINDOWS_IN), when(remainder)),
    Rule("resize", "a resize by no whole number", 9, on.named(on.RESIZES), when(fraction)),
    Rule("pads", "padding, asymmetric or not alike along the axes", 9, on.named(on.WINDOWED | {"pad"}), when(padded)),
    Rule("ceil_mode", "ceil_mode", 9, on.named(on.POOLS), when(lambda case: case.kwargs.get("ceil_mode"))),
)
