"""Rules of parameters together, of products of ragged tiles, of long rows, and of resizes by integers."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from itertools import combinations

from case_rules import operators as on
from case_rules.predicates import Rule, is_not_involution, make_parts, to_tuple
from case_rules.windows import to_rank
from opproof.cases import Case
from opproof.reference_ops import Op, Trait

#: Parameters that exclude each other: Nesterov's step has no dampening, and only the default mode fills with a value.
_EITHER = ({"dampening", "nesterov"}, {"mode", "value"})
#: Tensors of a product of matrices.
_FACTORS = ({"a", "b"}, {"x", "weight"})
#: A tile, in rows and columns of a result, and the terms of a sum past which 15 bits count no further.
_TILE_SIDE = 16
_MAX_COUNTED_TERMS = 2**15
#: Scales of a resize whose reciprocal f32 rounds down, so that places computed by it fall short of a whole cell.
_SHORT_SCALE = 41


def _list_optional(op: Op) -> list[str]:
    return [name for name, default in op.params.items() if default is not inspect.Parameter.empty]


def _off(case: Case, op: Op) -> list[str]:
    """Parameters of the case that are not as they are when left out."""
    return [name for name in _list_optional(op) if name in case.kwargs and case.kwargs[name] != op.params[name]]


def _find_pairs(case: Case, op: Op) -> list[str]:
    return [f"{a} x {b}" for a, b in combinations(_off(case, op), 2)]


def _list_pair_parts(op: Op, cases: Sequence[Case]) -> list[str]:
    del cases
    return [f"{a} x {b}" for a, b in combinations(_list_optional(op), 2) if {a, b} not in _EITHER]


def shapes_of_factors(case: Case) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The last two axes of both factors."""
    first, second = (case.shapes[name] for name in _names_of_factors(case))
    return first[-2:], second[-2:]


def _names_of_factors(case: Case) -> list[str]:
    return sorted(next(names for names in _FACTORS if names <= set(case.shapes)), key=lambda n: n in ("b", "weight"))


def products(op: Op) -> bool:
    """Whether it is a product of two matrices, and not of rows that experts or windows choose."""
    return {Trait.LONG_SUM, Trait.MULTIPLIES} <= op.traits and op.multilinear and _has_two_factors(op)


def _has_two_factors(op: Op) -> bool:
    """Of two factors, alone or with a bias or a matrix, which is broadcast: a vector that is added to is not."""
    added = op.tensors == ("x", "a", "b") and Trait.BROADCASTS in op.traits
    return added or op.tensors in {("a", "b"), ("x", "weight", "bias")}


def _is_ragged(case: Case) -> bool:
    """In f16 every extent past a tile of 64, one past two, and none a multiple of 16."""
    sizes = [n for shape in shapes_of_factors(case) for n in shape]
    return (
        case.dtype == "f16"
        and min(sizes) > 4 * _TILE_SIDE
        and max(sizes) > 8 * _TILE_SIDE
        and all(n % _TILE_SIDE for n in sizes)
    )


def _is_deep(case: Case) -> bool:
    """A sum of more than 32,768 terms for every cell of a whole tile."""
    sizes = [n for shape in shapes_of_factors(case) for n in shape]
    return max(sizes) > _MAX_COUNTED_TERMS and min(sizes) >= _TILE_SIDE


def _is_column(case: Case) -> bool:
    """More than 65,535 rows times one column."""
    first, second = shapes_of_factors(case)
    return first[:-1] > (2**16 - 1,) and 1 in second and len(second) == 2


def _find_long_rows(case: Case, op: Op) -> list[str]:
    """More than 65,536 elements along `dim` in each of several rows, and as many rows of one element."""
    shape, dim = next(iter(case.shapes.values())), case.kwargs.get("dim", op.params["dim"])
    if not isinstance(dim, int) or len(shape) < 2:
        return []
    along, rows = shape[dim], max(n for i, n in enumerate(shape) if i != dim % len(shape))
    return [n for n, met in (("long", along > 2**16 and rows > 1), ("of one", rows > 2**16 and along == 1)) if met]


def _rows(op: Op) -> bool:
    """Whether it makes something of rows along `dim` of one tensor, for any number of rows."""
    whole = on.by_rows(op) and op.tensors == ("x",) and "dim" in op.params
    return whole and isinstance(op.params["dim"], int | None | type) and not {"k", "p"} & set(op.params)


def _find_whole_sides(case: Case, op: Op) -> list[str]:
    """Sides of a plane that is resized by integers, one an axis, and a scale that f32 has no reciprocal of."""
    del op
    plane = case.shapes["x"][2:]
    sizes = [n for n in to_rank(case.kwargs["size"], 2) if isinstance(n, int)]
    if 0 in plane or plane == tuple(sizes):
        return []
    up = all(m % n == 0 and m > n for n, m in zip(plane, sizes, strict=True))
    down = all(n % m == 0 and n > m for n, m in zip(plane, sizes, strict=True))
    side = "H > W" if plane[0] > plane[1] else "W > H" if plane[0] < plane[1] else ""
    met = [f"{side}, {way}" for way, is_so in (("up", up), ("down", down)) if is_so and side]
    return [*met, *(["1 / 41"] if any(m == _SHORT_SCALE * n for n, m in zip(plane, sizes, strict=True)) else [])]


def _is_permuted(case: Case) -> bool:
    """Letters of the result in an order that is not its own inverse, counted in the alphabet."""
    letters = str(case.kwargs["equation"]).partition("->")[2]
    return is_not_involution(tuple(sorted(letters).index(letter) for letter in letters))


def _find_sided_pads(case: Case, op: Op) -> list[str]:
    """Pads before an axis alone, behind it alone, and of less than nothing, in each mode."""
    before, behind = to_tuple(case.kwargs["pad"])[::2], to_tuple(case.kwargs["pad"])[1::2]
    ends = [(b, e) for b, e in zip(before, behind, strict=True) if isinstance(b, int) and isinstance(e, int)]
    mode = case.kwargs.get("mode", op.params["mode"])
    kinds = {
        "before": any(b > 0 and e == 0 for b, e in ends),
        "behind": any(b == 0 and e > 0 for b, e in ends),
        "negative": any(min(b, e) < 0 for b, e in ends),
    }
    return [f"{mode}, {kind}" for kind, met in kinds.items() if met]


def _list_sided_parts(op: Op, cases: Sequence[Case]) -> list[str]:
    modes = sorted({str(case.kwargs.get("mode", op.params["mode"])) for case in cases})
    return [f"{mode}, {kind}" for mode in modes for kind in ("before", "behind", "negative")]


PAIRS = (
    Rule(
        *("pairs", "every two parameters away from their defaults together", 0),
        lambda op: len(_list_optional(op)) > 1,
        _find_pairs,
        _list_pair_parts,
    ),
    Rule("ragged tiles", "several tiles an axis, the last of them not whole", 0, products, make_parts(_is_ragged)),
    Rule("long tiles", "a sum of over 32768 terms for a tile of results", 0, products, make_parts(_is_deep)),
    Rule("one column", "over 65535 rows times one column", 0, products, make_parts(_is_column)),
    Rule(
        *("65537 by dim", "over 65536 along `dim` in rows, and as many rows of one", 0),
        _rows,
        _find_long_rows,
        lambda op, cases: ("long", "of one"),
    ),
    Rule(
        *("whole resize", "a resize by integers of a plane that is no square, and by 41", 0),
        lambda op: Trait.RESIZE in op.traits and op.tensors == ("x",) and "size" in op.params,
        _find_whole_sides,
        lambda op, cases: ("H > W, up", "W > H, up", "H > W, down", "1 / 41"),
    ),
    Rule(
        *("letters", "letters of the result in an order that is not its own inverse", 0),
        on.has_params("equation"),
        make_parts(_is_permuted),
    ),
    Rule(
        "ends",
        "pads at one end alone, and negative ones, in each mode",
        0,
        on.has_params("pad", "mode"),
        _find_sided_pads,
        _list_sided_parts,
    ),
)
