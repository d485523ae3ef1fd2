"""Rules of shapes and memory: sizes, layouts, ranks, windows.

Rules of the order in which axes lie in memory, and of batches that repeat one matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from opproof.cases import Case
from opproof.cases._derived import has_one, is_beside_one, is_plain, lies_otherwise, of_cotangents
from opproof.cases._layouts import layouts_of
from opproof.harness.selftest.coverage import operators as on
from opproof.harness.selftest.coverage.predicates import (
    Rule,
    broadcasts,
    count_rows,
    find_alone,
    find_one_element,
    has_leading_axes,
    has_longer_sum,
    has_repeated_indices,
    has_size_within,
    heads,
    in_place_strided,
    is_not_involution,
    is_unchanged,
    list_layout_parts,
    list_one_element_parts,
    list_sizes,
    make_parts,
    with_layout,
)
from opproof.harness.selftest.coverage.windows import (
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
from opproof.reference_ops import Op, Trait


def list_reordered_parts(layout: str) -> Callable[[Op, Sequence[Case]], list[str]]:
    """Tensors that `layout` can give another order of axes in some plain case; of several alike the first two."""

    def parts(op: Op, cases: Sequence[Case]) -> list[str]:
        plain = [case.shapes for case in cases if is_plain(case)]
        found = sorted({n for shapes in plain for n, shape in shapes.items() if lies_otherwise(shape, layout)})
        return found[:2] if op.variadic else found

    return parts


def _find_repeated(case: Case, op: Op) -> list[str]:
    """The tensor of a batch that alone has a stride of 0 along it, of ordinary numbers."""
    del op
    lies = layouts_of(case)
    odd = [name for name, layout in lies.items() if layout != "contiguous"]
    return odd if [lies[name] for name in odd] == ["broadcast"] and _is_batch(case, odd[0]) else []


def _is_batch(case: Case, name: str) -> bool:
    shape = case.shapes[name]
    return len(shape) > 2 and shape[0] > 1


def _list_batch_parts(op: Op, cases: Sequence[Case]) -> list[str]:
    """Tensors of a batch beside others in some plain case; of several alike the first two."""
    found = sorted(
        {n for case in cases if is_plain(case) and len(case.shapes) > 1 for n in case.shapes if _is_batch(case, n)}
    )
    return found[:2] if op.variadic else found


#: What a case meets of the rule, and what an operator owes.
REPEATED = (_find_repeated, _list_batch_parts)


def _of_one(case: Case, op: Op) -> list[str]:
    """What is done to the strides of tensors with an axis of 1, by tensor."""
    del op
    lies = layouts_of(case)
    return [f"{n} {by}" for n, by in lies.items() if by in ("gapped", "transposed") and has_one(case.shapes[n])]


def _of_one_parts(op: Op, cases: Sequence[Case]) -> list[str]:
    found = _select_names(
        op, [n for case in _select_contiguous(cases) for n, shape in case.shapes.items() if has_one(shape)]
    )
    return [f"{n} {by}" for n in found for by in ("gapped", "transposed")]


def _find_beside_one(case: Case, op: Op) -> list[str]:
    del op
    return [n for n, by in layouts_of(case).items() if by == "gapped" and is_beside_one(case, n)]


def _list_beside_one_parts(op: Op, cases: Sequence[Case]) -> list[str]:
    return _select_names(op, [n for case in _select_contiguous(cases) for n in case.shapes if is_beside_one(case, n)])


def _select_contiguous(cases: Sequence[Case]) -> list[Case]:
    return [case for case in cases if is_plain(case) and case.layout == "contiguous"]


def _select_names(op: Op, names: list[str]) -> list[str]:
    """The names once each; of several alike the first two."""
    found = sorted(set(names))
    return found[:2] if op.variadic else found


def _find_cotangents(case: Case, op: Op) -> list[str]:
    del op
    return [""] if of_cotangents(case) else []


def _list_cotangent_parts(op: Op, cases: Sequence[Case]) -> list[str]:
    del op
    return [""] if any(map(is_plain, cases)) else []


COTANGENTS = (_find_cotangents, _list_cotangent_parts)
AXIS_OF_ONE = (_of_one, _of_one_parts)
BESIDE_ONE = (_find_beside_one, _list_beside_one_parts)


def windows(op: Op) -> bool:
    """Whether it slides windows with a stride and padding."""
    return {"stride", "padding"} <= set(op.params)


def has_sliding_windows(op: Op) -> bool:
    """Whether it slides windows over the plane of x."""
    others = {"output_size", "output_padding", "size"} & set(op.params)
    return windows(op) and op.tensors[0] == "x" and not others


_ROWS = on.has_trait(Trait.POINTWISE, Trait.ROWWISE)

SIZES = (
    Rule("1-9", "an axis of 1 to 9", 25, on.tensors, make_parts(has_size_within((1, 9)))),
    Rule("31-33", "an axis of 31 to 33", 25, on.tensors, make_parts(has_size_within((31, 33)))),
    Rule("63-66", "an axis of 63 to 66", 25, on.tensors, make_parts(has_size_within((63, 66)))),
    Rule(
        *("96+", "an axis of 96 to 132, 250 to 260 or 768", 25),
        on.tensors,
        make_parts(has_size_within((96, 132), (250, 260), (768, 768))),
    ),
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
    *(
        Rule(name, f"every tensor {text}", 22, on.tensors, with_layout(kind), list_layout_parts(kind))
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
        Rule(name, f"every tensor of three axes {text}", 0, on.tensors, with_layout(kind), list_reordered_parts(kind))
        for name, kind, text in (
            ("exchanged", "exchanged", "with its first two axes swapped in memory, its rows as they were"),
            ("channels last", "channels", "with its second axis innermost in memory"),
        )
    ),
    Rule(
        "one repeated",
        "every tensor of a batch alone repeated along it by a stride of 0",
        0,
        on.has_several_tensors,
        *REPEATED,
    ),
    Rule(
        "cotangents repeated",
        "cotangents alone with a stride of 0 along their first axis",
        0,
        on.is_differentiable,
        *COTANGENTS,
    ),
    Rule("axis of 1", "a tensor with an axis of 1, which has gaps or is transposed", 0, on.tensors, *AXIS_OF_ONE),
    Rule("beside one", "rows with gaps beside a tensor of one number", 0, on.has_several_tensors, *BESIDE_ONE),
    Rule("one strided", "one tensor strided, the others not", 22, on.has_several_tensors, find_alone),
    Rule(
        "one, offset",
        "a tensor of one element off the start of its storage",
        0,
        on.tensors,
        find_one_element,
        list_one_element_parts,
    ),
    Rule(
        *("same shape", "expanded, repeated or reshaped to the shape it has", 0),
        on.any_of(on.has_params("shape"), on.has_params("repeats")),
        make_parts(is_unchanged),
    ),
    Rule("dense", "all tensors contiguous", 22, on.tensors, make_parts(lambda case: case.layout == "contiguous")),
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
        lambda op, cases: ("transposed", "gapped", "sliced"),  # noqa: ARG005
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
        lambda op, cases: ("narrow", "wide", "all covered"),  # noqa: ARG005
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
