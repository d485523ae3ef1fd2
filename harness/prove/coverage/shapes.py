"""Rules of shapes and memory: sizes, layouts, ranks, windows."""

from __future__ import annotations

from opproof.harness.prove.coverage import ops as on
from opproof.harness.prove.coverage.case import (
    Rule,
    alone,
    broadcasts,
    heads,
    in_place_strided,
    layout,
    layout_parts,
    not_involution,
    one,
    one_parts,
    unchanged,
    when,
)
from opproof.harness.prove.coverage.orders import AXIS_OF_ONE, BESIDE_ONE, COTANGENTS, REPEATED, otherwise_parts
from opproof.harness.prove.coverage.sizes import leading, longer, over, rows, sizes, within
from opproof.harness.prove.coverage.windows import (
    attribute_parts,
    attributes,
    channel_parts,
    channels,
    fraction,
    groups,
    leftover,
    padded,
    sides,
    uneven,
    widths,
)
from opproof.reference_ops import Op, Trait


def windows(op: Op) -> bool:
    """Whether it slides windows with a stride and padding."""
    return {"stride", "padding"} <= set(op.params)


def sliding(op: Op) -> bool:
    """Whether it slides windows over the plane of x."""
    others = {"output_size", "output_padding", "size"} & set(op.params)
    return windows(op) and op.tensors[0] == "x" and not others


_ROWS = on.being(Trait.POINTWISE, Trait.ROWWISE)

SIZES = (
    Rule("1-9", "an axis of 1 to 9", 25, on.tensors, when(within((1, 9)))),
    Rule("31-33", "an axis of 31 to 33", 25, on.tensors, when(within((31, 33)))),
    Rule("63-66", "an axis of 63 to 66", 25, on.tensors, when(within((63, 66)))),
    Rule(
        *("96+", "an axis of 96 to 132, 250 to 260 or 768", 25),
        on.tensors,
        when(within((96, 132), (250, 260), (768, 768))),
    ),
    Rule("> 1024", "an axis longer than 1024", 12, on.tensors, when(within((1025, 10**9))), level="full"),
    Rule("> 4096", "a sum of over 4096 terms", 12, on.being(Trait.LONG_SUM), longer),
    Rule("> 12288", "a row longer than 12288", 12, _ROWS, when(within((12289, 10**9))), level="full"),
    Rule("> 65535 rows", "more than 65535 rows", 9, _ROWS, when(lambda case: rows(case) > 65535), level="full"),
    Rule("empty", "an axis of 0", 9, on.tensors, when(lambda case: 0 in sizes(case))),
    Rule("size 1", "a row of one element", 9, on.being(Trait.ROWWISE), when(lambda case: 1 in sizes(case))),
)

LAYOUTS = (
    *(
        Rule(name, f"every tensor {text}", 22, on.tensors, layout(kind), layout_parts(kind))
        for name, kind, text in (
            ("transposed", "transposed", "transposed"),
            ("sliced", "sliced", "step-sliced"),
            ("gapped", "gapped", "with gaps between its rows"),
            ("cropped", "cropped", "the first rows of a longer buffer, matrix by matrix"),
            ("offset", "offset", "off the start of its storage"),
            ("stride 0", "broadcast", "broadcast in memory"),
        )
    ),
    *(
        Rule(name, f"every tensor of three axes {text}", 0, on.tensors, layout(kind), otherwise_parts(kind))
        for name, kind, text in (
            ("exchanged", "exchanged", "with its first two axes swapped in memory, its rows as they were"),
            ("channels last", "channels", "with its second axis innermost in memory"),
        )
    ),
    Rule("one repeated", "every tensor of a batch alone repeated along it by a stride of 0", 0, on.several, *REPEATED),
    Rule(
        "cotangents repeated",
        "cotangents alone with a stride of 0 along their first axis",
        0,
        on.differentiable,
        *COTANGENTS,
    ),
    Rule("axis of 1", "a tensor with an axis of 1, which has gaps or is transposed", 0, on.tensors, *AXIS_OF_ONE),
    Rule("beside one", "rows with gaps beside a tensor of one number", 0, on.several, *BESIDE_ONE),
    Rule("one strided", "one tensor strided, the others not", 22, on.several, alone),
    Rule("one, offset", "a tensor of one element off the start of its storage", 0, on.tensors, one, one_parts),
    Rule(
        *("same shape", "expanded, repeated or reshaped to the shape it has", 0),
        on.either(on.taking("shape"), on.taking("repeats")),
        when(unchanged),
    ),
    Rule("dense", "all tensors contiguous", 22, on.tensors, when(lambda case: case.layout == "contiguous")),
)

DESTINATIONS = (
    Rule(
        *("in place", "its result in the memory of a tensor: of every one that has room for it", 6),
        on.in_place,
        lambda case, _: (case.inplace,) if case.inplace else (),
        lambda op, _: op.in_place,
    ),
    Rule("in place, strided", "its result in the memory of a strided tensor", 0, on.in_place, when(in_place_strided)),
    Rule(
        *(
            "strided results",
            "results, or gradients, transposed, with gaps and step-sliced",
            4,
        ),
        on.tensors,
        lambda case, _: () if case.into == "contiguous" else (case.into,),
        lambda op, cases: ("transposed", "gapped", "sliced"),  # noqa: ARG005
    ),
)

RANKS = (
    Rule("leading", "rank 3 or more, leading axes longer than 1 and distinct", 17, on.tensors, when(leading)),
    Rule("Hq, Hk", "more query heads than key heads", 17, on.taking("enable_gqa"), when(heads)),
    Rule(
        *("permutation", "axes in an order that is not its own inverse", 9),
        on.taking("dims"),
        when(lambda case: not_involution(case.kwargs["dims"])),
    ),
    Rule("repeated", "more indices than places, unsorted", 8, on.being(Trait.INDEXED), when(over)),
    Rule("broadcast", "operands of other shapes", 7, on.being(Trait.BROADCASTS), when(broadcasts)),
)

WINDOWS = (
    Rule("groups", "groups with stride on odd sizes", 12, on.taking("groups"), when(groups)),
    Rule(
        *("dilation", "stride and dilation, one other than the other", 12),
        on.taking("stride", "dilation"),
        when(lambda case: case.kwargs.get("dilation") not in (None, case.kwargs.get("stride", 1))),
    ),
    Rule(
        *("attributes", "stride, padding, dilation alone, in pairs on an axis, over a kernel of 1, uneven", 0),
        windows,
        attributes,
        attribute_parts,
    ),
    Rule("channels", "channels odd and even, to 16, to 32 and more", 0, sliding, channels, channel_parts),
    Rule(
        *("narrow, wide", "rows under 4 and over 64 long, strides that leave no cell uncovered", 0),
        sliding,
        widths,
        lambda op, cases: ("narrow", "wide", "all covered"),  # noqa: ARG005
    ),
    Rule(
        *("depthwise", "one channel a group", 12),
        on.taking("groups"),
        when(lambda case: case.kwargs.get("groups", 1) == case.shapes["x"][1] > 1),
    ),
    Rule(
        *("H, W", "H above W and below it, kernels or parameters uneven too", 9),
        on.either(on.taking("padding"), on.being(Trait.RESIZE)),
        uneven,
        sides,
    ),
    Rule("leftover", "(n + 2p - d(k-1) - 1) mod s other than 0", 9, on.taking("padding"), leftover),
    Rule("resize", "a resize by no whole number", 9, on.being(Trait.RESIZE), when(fraction)),
    Rule("pads", "padding, asymmetric or not alike along the axes", 9, on.padded, when(padded)),
    Rule("ceil_mode", "ceil_mode", 9, on.taking("ceil_mode"), when(lambda case: case.kwargs.get("ceil_mode"))),
)
