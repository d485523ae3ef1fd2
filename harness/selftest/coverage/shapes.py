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
    alone,
    broadcasts,
    heads,
    in_place_strided,
    layout,
    layout_parts,
    leading,
    longer,
    not_involution,
    one,
    one_parts,
    over,
    rows,
    sizes,
    unchanged,
    when,
    within,
)
from opproof.harness.selftest.coverage.windows import (
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


def otherwise_parts(layout: str) -> Callable[[Op, Sequence[Case]], list[str]]:
    """Tensors that `layout` can give another order of axes in some plain case; of several alike the first two."""

    def parts(op: Op, cases: Sequence[Case]) -> list[str]:
        plain = [case.shapes for case in cases if is_plain(case)]
        found = sorted({n for shapes in plain for n, shape in shapes.items() if lies_otherwise(shape, layout)})
        return found[:2] if op.variadic else found

    return parts


def _repeated(case: Case, op: Op) -> list[str]:
    """The tensor of a batch that alone has a stride of 0 along it, of ordinary numbers."""
    del op
    lies = layouts_of(case)
    odd = [name for name, layout in lies.items() if layout != "contiguous"]
    return odd if [lies[name] for name in odd] == ["broadcast"] and _batch(case, odd[0]) else []


def _batch(case: Case, name: str) -> bool:
    shape = case.shapes[name]
    return len(shape) > 2 and shape[0] > 1


def _batches(op: Op, cases: Sequence[Case]) -> list[str]:
    """Tensors of a batch beside others in some plain case; of several alike the first two."""
    found = sorted(
        {n for case in cases if is_plain(case) and len(case.shapes) > 1 for n in case.shapes if _batch(case, n)}
    )
    return found[:2] if op.variadic else found


#: What a case meets of the rule, and what an operator owes.
REPEATED = (_repeated, _batches)


def _of_one(case: Case, op: Op) -> list[str]:
    """What is done to the strides of tensors with an axis of 1, by tensor."""
    del op
    lies = layouts_of(case)
    return [f"{n} {by}" for n, by in lies.items() if by in ("gapped", "transposed") and has_one(case.shapes[n])]


def _of_one_parts(op: Op, cases: Sequence[Case]) -> list[str]:
    found = _named(op, [n for case in _contiguous(cases) for n, shape in case.shapes.items() if has_one(shape)])
    return [f"{n} {by}" for n in found for by in ("gapped", "transposed")]


def _beside(case: Case, op: Op) -> list[str]:
    del op
    return [n for n, by in layouts_of(case).items() if by == "gapped" and is_beside_one(case, n)]


def _beside_parts(op: Op, cases: Sequence[Case]) -> list[str]:
    return _named(op, [n for case in _contiguous(cases) for n in case.shapes if is_beside_one(case, n)])


def _contiguous(cases: Sequence[Case]) -> list[Case]:
    return [case for case in cases if is_plain(case) and case.layout == "contiguous"]


def _named(op: Op, names: list[str]) -> list[str]:
    """The names once each; of several alike the first two."""
    found = sorted(set(names))
    return found[:2] if op.variadic else found


def _cotangents(case: Case, op: Op) -> list[str]:
    del op
    return [""] if of_cotangents(case) else []


def _cotangents_parts(op: Op, cases: Sequence[Case]) -> list[str]:
    del op
    return [""] if any(map(is_plain, cases)) else []


COTANGENTS = (_cotangents, _cotangents_parts)
AXIS_OF_ONE = (_of_one, _of_one_parts)
BESIDE_ONE = (_beside, _beside_parts)


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
