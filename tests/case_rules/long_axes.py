"""Rules of long axes: every axis of every tensor, one at a time, past the ends of counters, grids and blocks.

Rules of axes: six of them, some far apart, some of equal length.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from case_rules import operators as on
from case_rules.predicates import INDICES, Rule, make_parts
from opproof.cases import Case, short
from opproof.cases._case import Shape
from opproof.cases._rows.derived import MANY
from opproof.reference_ops import Op, Trait

_SHORT = 64  # no other axis of the tensor is longer


def _names_of_axis(shape: Shape, axis: int) -> tuple[str, ...]:
    """What an axis is called: by number, and as the first or the last of a tensor of any rank."""
    ends = (("first",) if axis == 0 and len(shape) > 1 else ()) + (("last",) if axis == len(shape) - 1 else ())
    return (str(axis), *ends)


def find_axes(n: int) -> Callable[[Case, Op], Iterable[str]]:
    """Axes of length `n` in tensors that are short along all others."""

    def met(case: Case, op: Op) -> Iterable[str]:
        del op
        for name, shape in case.shapes.items():
            if n in shape and sum(m > _SHORT for m in shape) == 1:
                yield from (f"{name}.{place}" for place in _names_of_axis(shape, shape.index(n)))

    return met


def _list_axes(op: Op, cases: Sequence[Case]) -> set[str]:
    """Every axis of tensors of one rank, the first and the last of others; of tensors alike the first two."""
    ranks: dict[str, set[int]] = {}
    for case in cases:
        for name, shape in case.shapes.items():
            ranks.setdefault(name, set()).add(len(shape))
    named = sorted(ranks)[:2] if op.variadic else ranks
    return {
        f"{name}.{place}"
        for name in named
        for place in (range(max(ranks[name])) if len(ranks[name]) == 1 else ("first", "last"))
    }


def list_axis_parts(n: int) -> Callable[[Op, Sequence[Case]], set[str]]:
    """The axes that owe length `n`: all but those whose rows end before it, as the operator's cases file says why."""

    def parts(op: Op, cases: Sequence[Case]) -> set[str]:
        ends = short(op.name)
        return {axis for axis in _list_axes(op, cases) if axis not in ends or ends[axis].longest >= n}

    return parts


def find_largest(case: Case, op: Op) -> Iterable[str]:
    """Tensors with an axis of over 65,536."""
    del op
    return [name for name, shape in case.shapes.items() if max(shape, default=0) > 65536]


def _list_largest_parts(op: Op, cases: Sequence[Case]) -> set[str]:
    return {axis.partition(".")[0] for axis in list_axis_parts(65537)(op, cases)}


LONG = (
    *(
        Rule(
            f"{n} long", f"every axis {n} long once, the others short", 0, on.tensors, find_axes(n), list_axis_parts(n)
        )
        for n in (1025, 4099, 16385)
    ),
    Rule("> 65536", "an axis of over 65536, in every tensor", 0, on.tensors, find_largest, _list_largest_parts),
    *(
        Rule(
            *(f"{n} long", f"every axis {n} long once, the others short", 0),
            on.tensors,
            find_axes(n),
            list_axis_parts(n),
            level="full",
        )
        for n in (65537, 131073)
    ),
)


def reduces(op: Op) -> bool:
    """Whether an axis that it works along is left out of the result."""
    return {"dim", "keepdim"} <= set(op.params)


def is_pointwise_pair(op: Op) -> bool:
    """Whether it computes with tensors that broadcast, element by element."""
    return {Trait.POINTWISE, Trait.BROADCASTS} <= op.traits


def _has_any_rank(op: Op) -> bool:
    """Whether it takes tensors of any rank: elements, or rows along `dim`."""
    along = on.by_rows(op) and op.tensors == ("x",) and "dim" in op.params
    return on.is_float_map(op) or (is_pointwise_pair(op) and on.floats(op)) or along


def _has_many_axes(case: Case) -> bool:
    """Six axes, of which no two neighbours are one in memory."""
    ranks = max(map(len, case.shapes.values()), default=0)
    return ranks >= MANY and case.layout.endswith("permuted")


def _broadcast_shapes(case: Case) -> tuple[int, ...]:
    """The shape that the tensors of a case have together; of none that broadcast."""
    rank = max(map(len, case.shapes.values()), default=0)
    shapes = [(1,) * (rank - len(s)) + s for s in case.shapes.values()]
    return tuple(max(axis) for axis in zip(*shapes, strict=True))


def _find_apart(case: Case, op: Op) -> list[str]:
    """Tensors of the result's rank that are repeated along two axes between which another is not."""
    del op
    whole = _broadcast_shapes(case)
    found = []
    for name, shape in case.shapes.items():
        ones = [i for i, (n, m) in enumerate(zip(shape, whole, strict=False)) if n == 1 < m]
        if len(shape) == len(whole) and any(b - a > 1 for a, b in pairwise(ones)):
            found.append(name)
    return found


def _list_apart_parts(op: Op, cases: Sequence[Case]) -> set[str]:
    """Tensors that some case gives the result's rank, several elements, and an axis of 1 where the result has more."""
    del op
    return {
        name for case in cases for name, shape in case.shapes.items() if _is_repeated(shape, _broadcast_shapes(case))
    }


def _is_repeated(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    full = len(shape) == len(whole) > 1 < math.prod(shape)
    return full and any(n == 1 < m for n, m in zip(shape, whole, strict=True))


def _has_ambiguous_middle(case: Case) -> bool:
    """A middle axis as long as the others is left out: the cotangent fits the input without it in two ways."""
    shape, dim = next(iter(case.shapes.values())), case.kwargs.get("dim")
    equal = len(shape) > 2 and len(set(shape)) == 1 < shape[0]
    return equal and isinstance(dim, int) and 0 < dim < len(shape) - 1 and not case.kwargs.get("keepdim")


def _find_ambiguous_channels(case: Case, op: Op) -> list[str]:
    """Vectors along the second axis of a tensor whose rows are as long."""
    return [name for name in _find_channels(case, op) if case.shapes[name][0] == first_shape_of(case)[-1]]


def _find_channels(case: Case, op: Op) -> list[str]:
    del op
    x = first_shape_of(case)
    along = [name for name, shape in case.shapes.items() if len(shape) == 1 < shape[0] and name not in INDICES]
    return [name for name in along if len(x) > 2 and case.shapes[name][0] == x[1]]


def first_shape_of(case: Case) -> tuple[int, ...]:
    return next(iter(case.shapes.values()))


def _list_channel_parts(op: Op, cases: Sequence[Case]) -> set[str]:
    return {name for case in cases for name in _find_channels(case, op)}


REACH = (
    Rule("six axes", "six axes, of which no two are one in memory", 0, _has_any_rank, make_parts(_has_many_axes)),
    Rule(
        *("axes apart", "every tensor of the result's rank repeated along two axes that are no neighbours", 0),
        is_pointwise_pair,
        _find_apart,
        _list_apart_parts,
    ),
    Rule(
        *("middle axis", "an axis between two as long as itself left out of the result", 0),
        on.all_of(reduces, on.is_differentiable),
        make_parts(_has_ambiguous_middle),
    ),
    Rule(
        *("channels, rows", "every vector of channels beside rows that are as long as it", 0),
        on.has_trait(Trait.BROADCASTS, Trait.STATISTIC),
        _find_ambiguous_channels,
        _list_channel_parts,
    ),
)
