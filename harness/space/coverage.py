"""How much of an operator's space some cases cover: the pairs and triples of levels that they have, of how many."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from opproof.cases import Case
from opproof.cases._case import format_param
from opproof.cases._layouts import layouts_of
from opproof.cases._rows.quantised import BLOCKS
from opproof.core.verdicts import Mode, Verdict
from opproof.harness.reference.valid_case import op_of
from opproof.harness.space.cost import spaces_of
from opproof.harness.space.draw import Limits, apply_broadcast, is_allowed
from opproof.harness.space.factors import (
    ABSENT,
    BROADCASTS,
    CLASSES,
    DEFAULT,
    SIZES,
    WHOLE,
    Place,
    Space,
    evaluate_size,
    has_effect,
    name_axes,
)
from opproof.harness.space.pairs import Choice, PairTable
from opproof.reference_ops import Op
from opproof.reports import Coverage, Result

#: The class of sizes above those of all others.
_LARGEST_CLASS = "64k"
#: What an operator of a user's, or one whose package lacks, may raise: a run that is over says all else.
NOT_COUNTED = (ImportError, TypeError, ValueError, LookupError, ArithmeticError)
_OF_SIZE = {n: level for level, sizes in SIZES.items() for n in sizes}


def count_coverage_of_run(results: Iterable[Result], folders: Iterable[str]) -> Coverage:
    """What the cases that were answered cover, in the spaces of their operators."""
    cases: dict[str, dict[str, None]] = {}
    for result in results:
        if result.mode is not Mode.REFUSAL and result.verdict is not Verdict.UNSUPPORTED:
            cases.setdefault(result.op, {})[result.case] = None
    given = tuple(folders)
    found = Coverage()
    for op, some in cases.items():
        with suppress(*NOT_COUNTED):
            found += count_coverage(map(Case.parse, some), op_of(op, given))
    return found


def count_coverage(cases: Iterable[Case], op: Op) -> Coverage:
    """The pairs and triples of levels that the cases have, of those that can go together."""
    found, known = Coverage(), list(cases)
    for space in (*spaces_of(op), *spaces_of(op, of_floats=False)):
        table = PairTable(space.factors, lambda choice, space=space: is_allowed(choice, space, Limits()))  # type: ignore[misc]
        choices = {tuple(levels.items()) for case in known if (levels := read_levels(case, space)) is not None}
        found += _count(table, [dict(choice) for choice in choices])
    return found


def _count(table: PairTable, choices: Iterable[Choice]) -> Coverage:
    allowed, has = table.open, np.zeros((len(known := list(choices)), len(table.names)), np.float32)
    for row, choice in zip(has, known, strict=True):
        row[[i for named in choice.items() if (i := table.number.get(named)) is not None]] = 1
    triples = 0
    for i in np.flatnonzero(has.any(0)).tolist():
        beside = has[has[:, i] > 0]
        triples += int(((beside.T @ beside > 0) & allowed & np.outer(allowed[i], allowed[i])).sum())
    ways = allowed.astype(np.float32)
    return Coverage(
        pairs=int(((has.T @ has > 0) & allowed).sum()) // 2,
        of_pairs=int(allowed.sum()) // 2,
        triples=triples // 6,
        of_triples=int((ways @ ways * ways).sum(dtype=np.float64)) // 6,
    )


def read_levels(case: Case, space: Space) -> dict[str, str] | None:
    """The level of each factor that a case has, some left out; None of a case of another form."""
    names = name_axes(case, space.form)
    given = case.kwargs
    if names is None or (case.dtype not in {level.partition(" ")[0] for level in space.factors["dtype"]}):
        return None
    levels = {"dtype": " ".join((case.dtype, *(f"{n}:{d}" for n, d in case.mixed))), "fill": case.fill}
    for name in space.op.params:
        text = format_param(given[name]) if name in given else DEFAULT
        levels[f"param {name}"] = text
    layouts, shapes = layouts_of(case), case.shapes
    for operand in space.form.operands:
        name = operand.name
        first = next(iter(shapes)) if space.form.variadic else name
        levels[f"with {name}"] = "yes" if first in shapes else "no"
        layout = layouts.get(first, "contiguous")
        levels[f"layout {name}"] = layout if has_effect(layout, shapes.get(first, ())) else "contiguous"
    levels["needs"] = "all" if case.needs is None else ",".join(case.needs)
    levels["count"] = str(len(case.tensors))
    first = space.form.operands[0].name
    levels["again"] = next((name for name, of in case.tensors if of == first), "no")
    sizes = _solve_sizes(case, space, names)
    for factor in space.factors:
        if factor.startswith("size "):
            size = sizes.get(factor[5:])
            levels[factor] = ABSENT if size is None else class_of(size)
    if "broadcast" in space.factors:
        whole = np.broadcast_shapes(*shapes.values())
        placed = [*enumerate(shapes.values())]
        ways = (how for how in BROADCASTS if all(apply_broadcast(whole, how, k) == shape for k, shape in placed))
        levels["broadcast"] = next(ways, "")
    return {name: level for name, level in levels.items() if level in space.factors.get(name, ())}


def class_of(size: int) -> str:
    """The level of a size: the class whose sizes are about as large, and whether it is whole."""
    if size in _OF_SIZE:
        return _OF_SIZE[size]
    level = next((level for level, sizes in CLASSES.items() if size in sizes), _LARGEST_CLASS)
    return level if size % WHOLE == 0 else f"{level}±"


def _solve_sizes(case: Case, space: Space, axes: Mapping[Place, str]) -> dict[str, int]:
    """The sizes that the names of axes stand for, those in expressions where they are linear in one that is unknown."""
    known: dict[str, Any] = {**space.op.params, **case.kwargs}
    block = BLOCKS.get(str(known.get("type")))
    known |= {"block": block[0], "size": block[1]} if block else {}
    shapes, found = case.shapes, dict[str, int]()
    equations = [(text, shapes[name][axis]) for (name, axis), text in axes.items()]
    equations += [(text, known[name]) for name, text in space.form.bindings if isinstance(known[name], int)]
    names = [factor[5:] for factor in space.factors if factor.startswith("size ")]
    for text, size in (*equations, *equations):  # what an expression needs may stand behind it
        unknown = [word for word in re.findall(r"[A-Za-z_]\w*", text) if word in names and word not in found]
        if text in names:
            found[text] = max(size, found.get(text, 0))  # of axes that broadcast the longer one
        elif len(unknown) == 1:
            at = [evaluate_size(text, {**known, **found, unknown[0]: n}) for n in (1, 2)]
            if at[1] > at[0]:
                found[unknown[0]] = 1 + (size - at[0]) // (at[1] - at[0])
    return found
