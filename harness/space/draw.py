"""A case of a space: levels of factors become shapes, parameters, layouts.

What does not fit together gives no case: constraints are functions of one choice of levels, or of one case.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, replace

from opproof.cases import Case
from opproof.cases._case import Param, Shape
from opproof.cases._layouts import layouts_of, write_layouts
from opproof.cases._rows.quantised import BLOCKS
from opproof.harness.space.factors import (
    ABSENT,
    CLASSES,
    DEFAULT,
    ELLIPSIS,
    LEADING,
    SIZES,
    WHOLE,
    Operand,
    Space,
    evaluate_size,
    has_effect,
)
from opproof.harness.space.pairs import Choice
from opproof.reference_ops import Op

#: Numbers that the tensors of a case may have together, and the product of all sizes of a form.
MAX_ELEMENTS = 300_000
MAX_WORK = 2**20
#: Sizes from which on a case is large: the other factors then stay at what is usual.
LARGE = 4096
#: Draws of all sizes until they are few enough together.
SIZES_DRAWN = 8
#: Sizes of a class that has whole ones and others.
LEAST_CLASS = 16
#: The least size of each class.
LEAST = {level: min(sizes) for level, sizes in SIZES.items()}
#: Layouts of results that are not row by row. Few backends write to them, so they are no factor: some cases have them.
DESTINATIONS = ("transposed", "gapped", "sliced", "permuted")
#: Fills of large cases.
LARGE_FILLS = ("normal", "wide", "positive", "outliers")


@dataclass(frozen=True)
class Limits:
    """How large a case may be: numbers of its tensors together, the product of all its sizes; any size of a class."""

    elements: int = MAX_ELEMENTS
    work: int = MAX_WORK
    any_size: bool = False


def is_allowed(choice: Choice, space: Space, limits: Limits) -> bool:
    """Whether these levels, of some factors or of all, go together."""
    leading = [choice[name] for name in space.leading if name in choice]
    if any(a == ABSENT != b for a, b in itertools.pairwise(leading)):
        return False
    return fits(choice, space, limits) and _layouts_apply(choice, space) and _parameters_apply(choice, space)


def fits(choice: Choice, space: Space, limits: Limits) -> bool:
    """Whether tensors of the least sizes, and their product, are small enough, and the data of large ones plain."""
    sizes = {name[5:]: level for name, level in choice.items() if name[:5] == "size "}
    least = {name: LEAST[level] for name, level in sizes.items() if level != ABSENT}
    if max(least.values(), default=1) >= LARGE and choice.get("fill", "normal") not in LARGE_FILLS:
        return False
    leading = math.prod(n for name, n in least.items() if name.startswith("lead"))
    if math.prod(least.values()) > limits.work:
        return False
    return all(leading**has * math.prod(least.get(n, 1) for n in names) <= limits.elements for has, names in space.axes)


def _count_axes(operand: Operand, choice: Choice, space: Space) -> int:
    """How many axes it may have at most."""
    leading = [choice.get(name) for name in space.leading if operand.has_leading]
    absent = leading.index(ABSENT) if ABSENT in leading else len(leading)
    return len(operand.axes) - operand.has_leading + absent


def _layouts_apply(choice: Choice, space: Space) -> bool:
    how = choice.get("broadcast", "alike")
    for place, operand in enumerate(space.form.operands):
        layout = choice.get(f"layout {operand.name}", "contiguous")
        if layout == "contiguous":
            continue
        if choice.get(f"with {operand.name}") == "no" or choice.get("again") == operand.name:
            return False
        if not has_effect(layout, apply_broadcast((1,) * _count_axes(operand, choice, space), how, place)):
            return False
    return True


def _parameters_apply(choice: Choice, space: Space) -> bool:
    """Whether the axes that a parameter names are there."""
    dim = space.values.get(("dim", choice.get("param dim", DEFAULT)))
    if dim is None:
        return True
    rank = _count_axes(space.form.operands[0], choice, space)
    return all(-rank <= a < rank for a in (dim if isinstance(dim, tuple) else (dim,)) if isinstance(a, int))


def draw_case(choice: Choice, space: Space, rng: random.Random, limits: Limits) -> Case | None:
    """A case of these levels, sizes drawn in their classes; None where there is none."""
    params: dict[str, Param] = {}
    for name in space.op.params:
        level = choice.get(f"param {name}", DEFAULT)
        if level != DEFAULT:
            params[name] = space.values[name, level]
    sizes = _draw_sizes(choice, rng, limits)
    known: dict[str, Param] = {**space.op.params, **params, **sizes}
    block = BLOCKS.get(str(known.get("type")))
    if block:
        known |= {"block": block[0], "size": block[1]}
    elif "block" in (space.op.signature or "") or "size)" in space.op.signature:
        return None
    if any(evaluate_size(text, known) >= bound for text, bound in space.form.bounds):
        return None
    leading = tuple(sizes[name] for name in reversed(LEADING) if name in sizes)
    tensors = _shape_tensors(choice, space, known, leading)
    if tensors is None or sum(math.prod(s) for _, s in tensors if not isinstance(s, str)) > limits.elements:
        return None
    params |= {name: evaluate_size(text, known) for name, text in space.form.bindings}
    dtype, *mixed = choice["dtype"].split(" ")
    given = dict(tensors)
    pairs = tuple((n, d) for n, _, d in (word.partition(":") for word in mixed) if isinstance(given.get(n), tuple))
    if mixed and len(pairs) < len(mixed):
        return None
    needs = choice.get("needs", "all")
    if needs != "all" and needs not in given:
        return None
    return Case(
        op=space.op.name,
        tensors=tuple(tensors),
        params=tuple((name, params[name]) for name in space.op.params if name in params),
        dtype=dtype,
        mixed=pairs,
        fill=choice["fill"],
        layout=_write_layouts(choice, space, tensors),
        needs=None if needs == "all" else (needs,),
    )


def with_destination(case: Case, op: Op, rng: random.Random) -> Case:
    """The same case with a result that is strided, or in the memory of a tensor that may hold it."""
    ways = [replace(case, into=layout) for layout in DESTINATIONS]
    layouts = layouts_of(case)
    if case.needs is None and not op.variadic:
        ways += [replace(case, inplace=n) for n in op.in_place if layouts.get(n, "broadcast") != "broadcast"]
    return rng.choice(ways)


def _draw_sizes(choice: Choice, rng: random.Random, limits: Limits) -> dict[str, int]:
    """A size of each name's class; where all together are too many the least of each."""
    levels = {name.partition(" ")[2]: level for name, level in choice.items() if name.startswith("size ")}
    there = {name: level for name, level in levels.items() if level != ABSENT}
    for _ in range(SIZES_DRAWN):
        sizes = {name: _draw_size(level, rng, limits) for name, level in there.items()}
        if math.prod(sizes.values()) <= limits.elements:
            return sizes
    return {name: LEAST[level] for name, level in there.items()}


def _draw_size(level: str, rng: random.Random, limits: Limits) -> int:
    """One of those of a class that most kernels branch on; half of the time any other, where that is asked for."""
    sizes = CLASSES.get(level.rstrip("±"), range(0))
    if not limits.any_size or len(sizes) < LEAST_CLASS or rng.random() < 1 / 2:
        return rng.choice(SIZES[level])
    if level in CLASSES:
        return rng.choice(sizes[-sizes[0] % WHOLE :: WHOLE])
    size = rng.choice(sizes[:-1])
    return size + (size % WHOLE == 0)


def _shape_tensors(
    choice: Choice, space: Space, known: Mapping[str, Param], leading: Shape
) -> list[tuple[str, Shape | str]] | None:
    """The tensors with their shapes; None where a size comes out below 1."""
    tensors: list[tuple[str, Shape | str]] = []
    for k, operand in enumerate(space.form.operands):
        if choice.get(f"with {operand.name}") == "no":
            continue
        if choice.get("again", "no") == operand.name:
            tensors.append((operand.name, tensors[0][0]))
            continue
        shape: list[int] = []
        for axis in operand.axes:
            shape += leading if axis == ELLIPSIS else [int(evaluate_size(axis, known))]
        if min(shape, default=1) < 1:
            return None
        tensors.append((operand.name, apply_broadcast(tuple(shape), choice.get("broadcast", "alike"), k)))
    if space.form.variadic:
        _, shape_of_all = tensors[0]
        return [("abcdefghi"[i], shape_of_all) for i in range(int(choice["count"]))]
    return tensors


def apply_broadcast(shape: Shape, how: str, place: int) -> Shape:
    """The shape of the tensor in `place` among those that broadcast."""
    who, _, what = how.partition(" ")
    if (who == "first") != (place == 0) or how == "alike" or not shape:
        return shape
    ends = {"last 1": (*shape[:-1], 1), "first 1": (1, *shape[1:])}
    return {"scalar": (), "row": shape[-1:], "channel": (*shape[1:2], *(1,) * len(shape[2:])), **ends}[what]


def _write_layouts(choice: Choice, space: Space, tensors: list[tuple[str, Shape | str]]) -> str:
    """The layouts of the tensors as a case has them, those left out that change nothing; of any number all have one."""
    of_all = choice.get(f"layout {space.form.operands[0].name}", "contiguous") if space.form.variadic else "contiguous"
    chosen = [(name, shape, choice.get(f"layout {name}", of_all)) for name, shape in tensors]
    return write_layouts({n: y for n, shape, y in chosen if not isinstance(shape, str) and has_effect(y, shape)})
