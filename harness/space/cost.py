"""A case of a space: drawn from levels, what it costs, and whether the reference can compute it."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

import numpy as np

from opproof.cases import Case, cases_of
from opproof.cases._fills.fills import NOT_FINITE
from opproof.cases._registry import listed_cases
from opproof.cases._rows.quantised import BLOCKS
from opproof.core.dtypes import DTYPES, FLOATS
from opproof.core.errors import BadInput
from opproof.core.verdicts import Mode
from opproof.harness.reference.axes import Periods, find_periods
from opproof.harness.reference.chunks.memory_budget import MAX_UNMEASURED_ELEMENTS, TooLarge
from opproof.harness.reference.chunks.question import count_elements, make_fitting_question
from opproof.harness.reference.data import inputs_of
from opproof.harness.reference.valid_case import try_case
from opproof.harness.space.draw import Limits, draw_case
from opproof.harness.space.factors import Space, forms_of, make_space
from opproof.harness.space.pairs import Choice
from opproof.reference_ops import Op, Trait

#: Draws of sizes for one choice of levels, until one makes a case that the operator can compute.
DRAWS = 4
#: Bytes that the reference may take for a case: few inputs may have many results.
MEMORY_BYTES = 2**28
#: Numbers of a case that cost as much as all that a case costs however small it is.
ELEMENTS_PER_CASE = 2**13
#: The product of a case's different sizes, of which contractions make as many products, that costs as much.
WORK_PER_CASE = 2**15
#: Numbers of a case whose data repeat that cost as much, beside those of a period.
REPEATED_PER_CASE = 2**17
#: Fills of which most numbers tie.
TIED_FILLS = ("constant", "halves", "kink", "ties", "zeros")
#: Numbers on kinks, times those of the calls by which each is differentiated, that cost as much.
KINKS_PER_CASE = 2**15
#: What small cases have at most: they cost as much as any.
SMALL = Limits(elements=2**12, work=2**14)


#: Products of more numbers that are 1 but for a unit or two (fill=close) round to one side at each step, and drift.
MAX_CLOSE_FACTORS = 512


@dataclass(frozen=True)
class DrawnCase:
    """A case of a space, and the levels that it has."""

    case: Case
    choice: Choice


def spaces_of(op: Op, *, of_floats: bool = True) -> list[Space]:
    """The space of each form of an operator, of floats or of other numbers; none without a signature or a row."""
    rows = listed_cases(op.name) or cases_of(op.name, "standard", op.rows)
    found = [case for case in rows if (case.dtype in FLOATS) is of_floats]
    whole = [c for c in rows if not any(isinstance(v, float) for v in c.kwargs.values())]
    return [make_space(op, form, found, None if of_floats else whole) for form in forms_of(op) if found]


def draw_some(choice: Choice, space: Space, limits: Limits) -> DrawnCase | None:
    """A case of these levels; None where no draw of sizes makes one."""
    rng = random.Random(f"{space.op.name} {sorted(choice.items())}")  # noqa: S311 - draws, no secrets
    for _ in range(DRAWS):
        case = draw_case(choice, space, rng, limits)
        if case is not None:
            return DrawnCase(case, choice)
    return None


def is_computable(case: Case, op: Op) -> bool:
    """Whether the reference can compute the case in little memory, and a judge has room for it."""
    try:
        made = sum(y.size for y in try_case(case, op, MEMORY_BYTES))
        if count_elements(case) + made >= MAX_UNMEASURED_ELEMENTS:  # a judge has room for fewer
            for mode in modes_of(case, op):
                make_fitting_question(case, op, mode)
    except (BadInput, TooLarge, np.linalg.LinAlgError):  # of some data a matrix has no inverse
        return False
    return Trait.LONG_PRODUCT not in op.traits or not _drifts(case, op)


def _drifts(case: Case, op: Op) -> bool:
    """Whether a product is past the largest number, where it may stay infinite, or errs to one side at each step."""
    if op.partials is None or case.dtype not in FLOATS or case.fill in NOT_FINITE:
        return False
    values = inputs_of(case, op)
    inputs = [values[name] for name in op.tensors]
    with np.errstate(all="ignore"):
        beyond = any(bool((v > DTYPES[case.dtype].max).any()) for v in op.partials(*inputs, **case.kwargs))
    return beyond or (case.fill == "close" and inputs[0].size > MAX_CLOSE_FACTORS)


def modes_of(case: Case, op: Op) -> list[Mode]:
    """The modes in which the case is judged."""
    return [Mode.FORWARD] + [Mode.GRADIENT] * bool(op.vjp and case.dtype in FLOATS and case.fill not in NOT_FINITE)


def cost_of(case: Case, op: Op) -> float:
    """What a case costs, in those of the smallest: of data that repeat one period is judged, the rest compared."""
    given = sum(map(math.prod, case.shapes.values()))
    periods = _find_periods(case, op) if given > SMALL.elements else None
    shapes = (periods.case if periods else case).shapes.values()
    sizes, elements = {n for shape in shapes for n in shape}, sum(map(math.prod, shapes))
    block, size = BLOCKS.get(str(case.kwargs.get("type")), (1, 0))
    sizes = {n for n in sizes if not size or n % size or n // size * block not in sizes}  # bytes stand for numbers
    cost = 1 + elements / ELEMENTS_PER_CASE + math.prod(sizes) / WORK_PER_CASE
    cost += given / REPEATED_PER_CASE if periods else 0
    if op.kinks is None or Trait.POINTWISE in op.traits or case.fill not in TIED_FILLS:
        return cost
    return cost + elements**2 / KINKS_PER_CASE


def _find_periods(case: Case, op: Op) -> Periods | None:
    try:
        return find_periods(case, op)
    except (BadInput, ValueError, LookupError):  # parameters that do not fit the shapes: no case
        return None
