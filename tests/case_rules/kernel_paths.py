"""Rules of shapes that kernels have paths for: many wide rows, a long middle axis, few rows, one channel."""

from __future__ import annotations

import math
from collections.abc import Sequence

from case_rules import operators as on
from case_rules.long_axes import first_shape_of, is_pointwise_pair, reduces
from case_rules.parameters import products, shapes_of_factors
from case_rules.predicates import INDICES, Rule, make_parts, to_tuple
from opproof.cases import Case
from opproof.reference_ops import Op, Trait

#: Rows past which a launch has no block for each, and a width past that of two warps.
_MAX_LAUNCHED_ROWS = 1024
_TWO_WARPS_COLUMNS = 64
#: Tensors past which a list of them is handed on in parts.
_SHORT_LIST_TENSORS = 4
_LONG_LIST_TENSORS = 16
#: Rows of a product up to which it is taken for products with vectors.
_FEW_ROWS = range(2, 9)
#: A kernel longer than those that are unrolled.
_UNROLLED = 8


def _axis_of(case: Case) -> int | None:
    """Where the axis stands that it works along, counted from the first; None of several axes, or of all."""
    dim, rank = case.kwargs.get("dim"), len(first_shape_of(case))
    return dim % rank if isinstance(dim, int) and rank else None


def _is_wide(case: Case) -> bool:
    """More than 1024 rows of more than 64 elements, along the axis where it is one."""
    shape, dim = first_shape_of(case), _axis_of(case)
    if not shape:
        return False
    width = shape[-1] if dim is None else shape[dim]
    return width > _TWO_WARPS_COLUMNS and math.prod(shape) // width > _MAX_LAUNCHED_ROWS


def _list_wide_parts(op: Op, cases: Sequence[Case]) -> list[str]:
    """Of an operator whose first tensor has rows."""
    del op
    return [""] if any(len(first_shape_of(case)) > 1 for case in cases) else []


def _rows(op: Op) -> bool:
    """Whether it makes something of rows of its first tensor, whatever stands beside: no windows, no products."""
    whole = on.by_rows(op) and Trait.ROWWISE in op.traits and Trait.POOLS not in op.traits
    return whole and not {Trait.MULTIPLIES, Trait.CHANNELS, Trait.RESIZE} & op.traits


def _is_along_dim(op: Op) -> bool:
    """Whether it works along `dim` of one tensor, and tells more than a truth value."""
    along = on.by_rows(op) and op.tensors == ("x",) and "dim" in op.params
    return along and (on.is_differentiable(op) or Trait.ORDERED in op.traits)


def _find_middle_axes(case: Case, op: Op) -> list[str]:
    """A middle axis, counted from the end; a long one; and one that is kept."""
    del op
    shape, dim, given = first_shape_of(case), _axis_of(case), case.kwargs.get("dim")
    if dim is None or not 0 < dim < len(shape) - 1:
        return []
    kinds = {
        "from the end": given == dim - len(shape) and len(shape) == 3,
        "long": shape[dim] > _MAX_LAUNCHED_ROWS,
        "kept": bool(case.kwargs.get("keepdim")),
    }
    return [kind for kind, met in kinds.items() if met]


def _list_middle_parts(op: Op, cases: Sequence[Case]) -> list[str]:
    """A long axis where some row is that long."""
    long = any(first_shape_of(case)[-1:] > (_MAX_LAUNCHED_ROWS,) and case.kwargs.get("dim") == -1 for case in cases)
    return ["from the end", *(["long"] if long else []), *(["kept"] if reduces(op) else [])]


def _has_equal_axes(case: Case) -> bool:
    """Two axes or more, of which all tensors of data have the same length."""
    shapes = [shape for name, shape in case.shapes.items() if name not in INDICES and shape]
    return bool(shapes) and all(len(s) > 1 and len(set(s)) == 1 < s[0] for s in shapes)


def _moves(op: Op) -> bool:
    """Whether it moves elements along axes that it is told by number."""
    axes = {"dim", "dims", "dim0"} & set(op.params)
    moved = bool(axes) and op.is_exact("forward") and on.is_differentiable(op)
    return moved and op.traits.isdisjoint((Trait.ROWWISE, Trait.ORDERED)) and "sizes" not in op.params


def _find_long_lists(case: Case, op: Op) -> list[str]:
    count = len(case.shapes) if op.variadic else len(to_tuple(case.kwargs.get("sizes", ())))
    return [f"over {n}" for n in (_SHORT_LIST_TENSORS, _LONG_LIST_TENSORS) if count > n]


def _has_list(op: Op) -> bool:
    """Whether it takes any number of tensors, or gives them."""
    return op.variadic or "sizes" in op.params


def _is_long_vector(case: Case) -> bool:
    return len(first_shape_of(case)) == 1 and first_shape_of(case)[0] > _MAX_LAUNCHED_ROWS


def _list_vector_parts(op: Op, cases: Sequence[Case]) -> list[str]:
    """Of an operator that takes vectors."""
    del op
    return [""] if any(len(first_shape_of(case)) == 1 for case in cases) else []


def _kernel_of(case: Case) -> tuple[object, ...]:
    weight = case.shapes.get("weight")
    return weight[2:] if weight else to_tuple(case.kwargs.get("kernel_size", 0))


def _find_window_shapes(case: Case, op: Op) -> list[str]:
    """One channel made of several, several of one; a kernel of more than 8 cells along an axis."""
    x, weight = first_shape_of(case), case.shapes.get("weight")
    kernel = [n for n in _kernel_of(case) if isinstance(n, int)]
    made = () if weight is None else weight[:2] if _is_transposed(op) else (weight[1], weight[0])
    kinds = {
        "to one": x[1] > 1 == made[-1] if made else False,
        "of one": x[1] == 1 < made[-1] if made else False,
        "long": max(kernel, default=0) > _UNROLLED,
    }
    return [kind for kind, met in kinds.items() if met]


def _is_past_plane(case: Case) -> bool:
    """A kernel longer than the plane along some axis, which is padded."""
    plane = first_shape_of(case)[2:]
    kernel = [n for n in _kernel_of(case) if isinstance(n, int)]
    every = kernel if len(kernel) == len(plane) else kernel * len(plane)
    return any(k > n > 0 for k, n in zip(every, plane, strict=True))


def _is_transposed(op: Op) -> bool:
    return "output_padding" in op.params


def _list_window_parts(op: Op, cases: Sequence[Case]) -> list[str]:
    """No channels of pools, nor of depthwise kernels."""
    del cases
    mixes = "weight" in op.tensors and "groups" in op.params
    return ["long", *(["to one", "of one"] if mixes else [])]


def _slides(op: Op) -> bool:
    """Whether it slides windows of floats over its first tensor, at places of their own."""
    sliding = "padding" in op.params and ("weight" in op.tensors or Trait.POOLS in op.traits)
    return sliding and on.floats(op) and on.is_differentiable(op) and "offset" not in op.tensors


def _find_channel_pairs(case: Case, op: Op) -> list[str]:
    """A number for each channel of a batch of planes, and more than 65,536 elements of a row for all rows."""
    del op
    shapes = list(case.shapes.values())
    large = max(shapes, key=math.prod)
    channel = (large[1], 1, 1) in shapes if len(large) == 4 and large[0] > 1 else False
    kinds = {"channels": channel, "large": math.prod(large) > 2**16 and large[-1:] in shapes and len(large) == 2}
    return [kind for kind, met in kinds.items() if met]


def _find_tiles(case: Case, op: Op) -> list[str]:
    """Products of few rows with a large matrix, of extents one of which alone is not whole, and of many tiles."""
    del op
    (m, k), n = _extents_of(case)
    batch = len(first_shape_of(case)) > 2 and first_shape_of(case)[0] > 1
    kinds = {
        "few rows": m in _FEW_ROWS and k >= _TWO_WARPS_COLUMNS and n >= _TWO_WARPS_COLUMNS,
        "ragged terms": k % 2 == 1 and k > 16 and m % 16 == n % 16 == 0,
        "ragged sides": k % 32 == 0 and m % 2 == n % 2 == 1 and min(m, n) > 16,
        "many tiles": min(m, n) > 256,
        "one row in a batch": m == 1 < n and batch,
        "one column in a batch": n == 1 < m and batch,
    }
    return [kind for kind, met in kinds.items() if met]


def _extents_of(case: Case) -> tuple[tuple[int, int], int]:
    """Rows and terms of the first factor, columns of the second; zeros where one of them is a vector."""
    one, two = shapes_of_factors(case)
    if len(one) < 2 or len(two) < 2:
        return (0, 0), 0
    return (one[0], one[1]), two[0] if "weight" in case.shapes else two[1]


def _list_tile_parts(op: Op, cases: Sequence[Case]) -> list[str]:
    """Batches where factors alone have some, and many tiles where nothing is added."""
    found = ["few rows", "ragged terms", "ragged sides"]
    if op.tensors == ("x", "a", "b"):
        return found
    batches = ["one row in a batch", "one column in a batch"] if any(len(first_shape_of(c)) > 2 for c in cases) else []
    return [*found, "many tiles", *batches]


def _is_without_product(case: Case) -> bool:
    """Kernels return before they have begun, and what is added is to be there all the same."""
    return case.kwargs.get("alpha") == 0 and case.kwargs.get("beta") not in (None, 0, 1)


def _matrices(op: Op) -> bool:
    """Whether it is a product whose factors have rows and columns in one order."""
    return products(op) and "equation" not in op.params


PATHS = (
    Rule("wide, many", "over 1024 rows of over 64 elements", 0, _rows, make_parts(_is_wide), _list_wide_parts),
    Rule(
        "middle",
        "a middle axis counted from the end, a long one, one that is kept",
        0,
        _is_along_dim,
        _find_middle_axes,
        _list_middle_parts,
    ),
    Rule("equal axes", "tensors all of whose axes are as long as each other", 0, _moves, make_parts(_has_equal_axes)),
    Rule(
        *("many tensors", "over 4 tensors and over 16 at once", 0),
        _has_list,
        _find_long_lists,
        lambda op, cases: ("over 4", "over 16"),
    ),
    Rule("vector", "one axis of over 1024", 0, on.is_float_map, make_parts(_is_long_vector), _list_vector_parts),
    Rule(
        *("channels, large", "a number for each channel of planes, and a row for rows of over 65,536 elements", 0),
        on.all_of(is_pointwise_pair, on.floats, lambda op: op.tensors == ("a", "b")),
        _find_channel_pairs,
        lambda op, cases: ("channels", "large"),
    ),
    Rule(
        *("windows", "one channel of several, several of one, kernels of over 8 along an axis", 0),
        _slides,
        _find_window_shapes,
        _list_window_parts,
    ),
    Rule(
        *("past the plane", "a kernel longer than the plane without its padding", 0),
        lambda op: _slides(op) and not _is_transposed(op),
        make_parts(_is_past_plane),
    ),
    Rule(
        *("no product", "a factor of 0 before a product, beside a tensor that is added with another", 0),
        on.all_of(on.has_trait(Trait.MULTIPLIES), on.has_params("alpha", "beta")),
        make_parts(_is_without_product),
    ),
    Rule(
        *("tiles", "few rows, tiles ragged one way alone, many of them, one row or column in a batch", 0),
        _matrices,
        _find_tiles,
        _list_tile_parts,
    ),
)
