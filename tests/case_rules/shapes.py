"""Rules of shapes and memory: sizes, layouts, ranks, windows.

Rules of the order in which axes lie in memory, and of batches that repeat one matrix.
"""

from __future__ import annotations

from collections.abc import Sequence

from case_rules import operators as on
from case_rules.predicates import (
    Rule,
    broadcasts,
    count_rows,
    has_leading_axes,
    has_longer_sum,
    has_repeated_indices,
    has_size_within,
    heads,
    in_place_strided,
    is_not_involution,
    is_unchanged,
    list_sizes,
    make_parts,
)
from case_rules.windows import (
    attribute_parts,
    classify_channels,
    find_attributes,
    find_leftover,
    find_uneven,
    find_widths,
    groups,
    has_fraction,
    is_padded,
    list_channel_parts,
    list_side_parts,
)
from opproof.cases import Case
from opproof.cases._rows.derived import is_plain, of_cotangents
from opproof.reference_ops import Op, Trait


def _find_cotangents(case: Case, op: Op) -> list[str]:
    del op
    return [""] if of_cotangents(case) else []


def _list_cotangent_parts(op: Op, cases: Sequence[Case]) -> list[str]:
    del op
    return [""] if any(map(is_plain, cases)) else []


COTANGENTS = (_find_cotangents, _list_cotangent_parts)


def windows(op: Op) -> bool:
    """Whether it slides windows with a stride and padding."""
    return {"stride", "padding"} <= set(op.params)


def has_sliding_windows(op: Op) -> bool:
    """Whether it slides windows over the plane of x."""
    others = {"output_size", "output_padding", "size"} & set(op.params)
    return windows(op) and op.tensors[0] == "x" and not others


_ROWS = on.has_trait(Trait.POINTWISE, Trait.ROWWISE)

SIZES = (
    Rule(
        "> 1024", "an axis longer than 1024", 12, on.tensors, make_parts(has_size_within((1025, 10**9))), level="full"
    ),
    Rule("> 4096", "a sum of over 4096 terms", 12, on.has_trait(Trait.LONG_SUM), has_longer_sum),
    Rule("> 12288", "a row longer than 12288", 12, _ROWS, make_parts(has_size_within((12289, 10**9))), level="full"),
    Rule(
        "> 65535 rows",
        "more than 65535 rows",
        9,
        _ROWS,
        make_parts(lambda case: count_rows(case) > 65535),
        level="full",
    ),
    Rule("empty", "an axis of 0", 9, on.tensors, make_parts(lambda case: 0 in list_sizes(case))),
    Rule(
        "size 1", "a row of one element", 9, on.has_trait(Trait.ROWWISE), make_parts(lambda case: 1 in list_sizes(case))
    ),
)

LAYOUTS = (
    Rule(
        "cotangents repeated",
        "cotangents alone with a stride of 0 along their first axis",
        0,
        on.is_differentiable,
        *COTANGENTS,
    ),
    Rule(
        *("same shape", "expanded, repeated or reshaped to the shape it has", 0),
        on.any_of(on.has_params("shape"), on.has_params("repeats")),
        make_parts(is_unchanged),
    ),
)

DESTINATIONS = (
    Rule(
        *("in place", "its result in the memory of a tensor: of every one that has room for it", 6),
        on.in_place,
        lambda case, _: (case.inplace,) if case.inplace else (),
        lambda op, _: op.in_place,
    ),
    Rule(
        "in place, strided",
        "its result in the memory of a strided tensor",
        0,
        on.in_place,
        make_parts(in_place_strided),
    ),
    Rule(
        *("strided results", "results, or gradients, transposed, with gaps and step-sliced", 4),
        on.tensors,
        lambda case, _: () if case.into == "contiguous" else (case.into,),
        lambda op, cases: ("transposed", "gapped", "sliced"),
    ),
)

RANKS = (
    Rule(
        "leading",
        "rank 3 or more, leading axes longer than 1 and distinct",
        17,
        on.tensors,
        make_parts(has_leading_axes),
    ),
    Rule("Hq, Hk", "more query heads than key heads", 17, on.has_params("enable_gqa"), make_parts(heads)),
    Rule(
        *("permutation", "axes in an order that is not its own inverse", 9),
        on.has_params("dims"),
        make_parts(lambda case: is_not_involution(case.kwargs["dims"])),
    ),
    Rule(
        "repeated",
        "more indices than places, unsorted",
        8,
        on.has_trait(Trait.INDEXED),
        make_parts(has_repeated_indices),
    ),
    Rule("broadcast", "operands of other shapes", 7, on.has_trait(Trait.BROADCASTS), make_parts(broadcasts)),
)

WINDOWS = (
    Rule("groups", "groups with stride on odd sizes", 12, on.has_params("groups"), make_parts(groups)),
    Rule(
        *("dilation", "stride and dilation, one other than the other", 12),
        on.has_params("stride", "dilation"),
        make_parts(lambda case: case.kwargs.get("dilation") not in (None, case.kwargs.get("stride", 1))),
    ),
    Rule(
        *("attributes", "stride, padding, dilation alone, in pairs on an axis, over a kernel of 1, uneven", 0),
        windows,
        find_attributes,
        attribute_parts,
    ),
    Rule(
        "channels",
        "channels odd and even, to 16, to 32 and more",
        0,
        has_sliding_windows,
        classify_channels,
        list_channel_parts,
    ),
    Rule(
        *("narrow, wide", "rows under 4 and over 64 long, strides that leave no cell uncovered", 0),
        has_sliding_windows,
        find_widths,
        lambda op, cases: ("narrow", "wide", "all covered"),
    ),
    Rule(
        *("depthwise", "one channel a group", 12),
        on.has_params("groups"),
        make_parts(lambda case: case.kwargs.get("groups", 1) == case.shapes["x"][1] > 1),
    ),
    Rule(
        *("H, W", "H above W and below it, kernels or parameters uneven too", 9),
        on.any_of(on.has_params("padding"), on.has_trait(Trait.RESIZE)),
        find_uneven,
        list_side_parts,
    ),
    Rule("leftover", "(n + 2p - d(k-1) - 1) mod s other than 0", 9, on.has_params("padding"), find_leftover),
    Rule("resize", "a resize by no integer", 9, on.has_trait(Trait.RESIZE), make_parts(has_fraction)),
    Rule("pads", "padding, asymmetric or not alike along the axes", 9, on.can_pad, make_parts(is_padded)),
    Rule(
        "ceil_mode", "ceil_mode", 9, on.has_params("ceil_mode"), make_parts(lambda case: case.kwargs.get("ceil_mode"))
    ),
)
