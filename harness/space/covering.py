"""Covering arrays: few cases in which every pair of levels of any two factors stands together.

What tells most for its cost comes first. No library does that: covertable and allpairspy hold constraints for pairs
but not for whole rows (of covertable's 317 rows for rms_norm 194 are no cases), and neither weighs cost.

The arrays that come with opproof lie in cases/drawn, as a run cannot wait for them. They are made once for a version of
the suite: `python -m opproof.harness.space.covering` writes those of the operators named, or of all.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from opproof.cases import Case, cases_of
from opproof.cases._fills import NOT_FINITE
from opproof.cases._registry import listed_cases
from opproof.core.dtypes import FLOATS
from opproof.core.errors import BadInput
from opproof.core.verdicts import Mode
from opproof.harness.judge.judgement import find_vacuous_answers
from opproof.harness.reference.axes import Periods, find_periods
from opproof.harness.reference.chunks.memory_budget import MAX_UNMEASURED_ELEMENTS, TooLarge
from opproof.harness.reference.chunks.question import count_elements, make_fitting_question
from opproof.harness.reference.expected import evaluate_expected
from opproof.harness.reference.question import make_question
from opproof.harness.reference.valid_case import try_case
from opproof.harness.space.draw import LARGE_FILLS, LEAST, Limits, draw_case, is_allowed, with_destination
from opproof.harness.space.factors import Space, forms_of, make_space
from opproof.harness.space.pairs import Allows, Choice, PairTable, pairs_of
from opproof.reference_ops import Op, Trait, load, names

#: Draws of sizes for one choice of levels, until one makes a case that the operator can compute.
DRAWS = 4
#: More cases than any space has.
NO_LIMIT = 10**6
#: Bytes that the reference may take for a case: few inputs may have many results.
MEMORY_BYTES = 2**28
#: Candidates of which one is taken.
CANDIDATES = 4
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
#: The most that a case of the standard level costs, in those of the smallest: few cases make up most of the cost.
COST_AT_STANDARD = 6
#: The most that any case costs.
MAX_COST = 48
FOLDER = Path(__file__).parents[2] / "cases" / "drawn"
#: What small cases have at most: they cost as much as any.
SMALL = Limits(elements=2**12, work=2**14)
#: What cases of two large sizes have at most.
TOGETHER = Limits(elements=2**19, work=2**21)
#: The least of a large size: as many rows as a block has threads, and half of what one takes of a row.
LARGE_SIDE = 255
#: Cases of an operator's array: small ones, such with a size that only large ones have, and such with two large sizes.
SMALL_CASES = 64
LARGE_CASES = 8
TOGETHER_CASES = 12
#: Cases of these again with results that are strided or in place.
DESTINATION_CASES = 5
#: The part of these that the forms of an operator beside its first share.
SHARE_OF_OTHER_FORMS = 0.4


@dataclass(frozen=True)
class DrawnCase:
    """A case of a space, and the levels that it has."""

    case: Case
    choice: Choice


def spaces_of(op: Op) -> list[Space]:
    """The space of each form of an operator; none where its tensors have no signature."""
    rows = listed_cases(op.name) or cases_of(op.name, "standard", op.rows)
    floats = [case for case in rows if case.dtype in FLOATS] or rows
    return [make_space(op, form, floats) for form in forms_of(op)]


def cover_pairs(space: Space, limits: Limits, most: int = NO_LIMIT, covered: Allows | None = None) -> Cover:
    """At most `most` cases in which each pair of levels that can go together does, at little cost.

    Greedy, as AETG (Cohen et al., The AETG system, 1997): candidates grow from a pair that is still open, level by
    level; of a few the one with most new pairs per cost is taken. A pair of which no candidate can be computed is
    given up. Pairs that are `covered` elsewhere are not asked for.
    """
    table = PairTable(space.factors, lambda choice: is_allowed(choice, space, limits), covered)
    rng = random.Random(f"{space.op.name} {space.form}")  # noqa: S311 - draws, no secrets
    drawn: list[DrawnCase] = []
    while len(drawn) < most and (pair := table.pick_open(rng)) is not None:
        candidates = [d for _ in range(CANDIDATES) if (d := draw_some(table.grow(pair, rng), space, limits))]
        costs = [(cost_of(d.case, space.op), d) for d in candidates]
        costs = sorted((c for c in costs if c[0] <= MAX_COST), key=lambda c: -table.gain_of(c[1].choice) / c[0])
        best = next((d for _, d in costs if is_computable(d.case, space.op)), None)
        if best is None:
            table.note_failure(pair)
            continue
        table.cover(best.choice)
        drawn.append(best)
    return Cover(order_by_gain(drawn, space.op), table.given_up)


@dataclass(frozen=True)
class Cover:
    """Cases that cover what can be covered, and the number of pairs that no case was found for."""

    cases: list[DrawnCase]
    given_up: int


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
    except (BadInput, TooLarge):
        return False
    return True


def modes_of(case: Case, op: Op) -> list[Mode]:
    """The modes in which the case is judged."""
    return [Mode.FORWARD] + [Mode.GRADIENT] * (op.vjp is not None and case.fill not in NOT_FINITE)


def cost_of(case: Case, op: Op) -> float:
    """What a case costs, in those of the smallest: of data that repeat one period is judged, the rest compared."""
    given = sum(map(math.prod, case.shapes.values()))
    periods = _find_periods(case, op) if given > SMALL.elements else None
    shapes = (periods.case if periods else case).shapes.values()
    sizes, elements = {n for shape in shapes for n in shape}, sum(map(math.prod, shapes))
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


def order_by_gain(drawn: Sequence[DrawnCase], op: Op) -> list[DrawnCase]:
    """The cases in the order of new pairs per cost, those that add none left out."""
    number: dict[object, int] = {}
    ids = [np.array([number.setdefault(p, len(number)) for p in pairs_of(d.choice)]) for d in drawn]
    costs = np.array([cost_of(d.case, op) for d in drawn])
    fresh, left, ordered = np.ones(len(number), bool), list(range(len(drawn))), []
    while left:
        gains = np.array([fresh[ids[i]].sum() for i in left]) / costs[left]
        best = int(gains.argmax())
        if not gains[best]:
            break
        chosen = left.pop(best)
        fresh[ids[chosen]] = False
        ordered.append(drawn[chosen])
    return ordered


def make_array(op: Op) -> list[Case]:
    """The cases of an operator's array: small ones, then those with sizes that only large ones have."""
    spaces = spaces_of(op)
    found: dict[Case, None] = {}
    for k, space in enumerate(spaces):
        share = 1.0 if k == 0 else SHARE_OF_OTHER_FORMS / (len(spaces) - 1)
        for limits, covered, most in (
            (SMALL, None, SMALL_CASES),
            (Limits(), lambda pair, space=space: is_allowed(pair, space, SMALL), LARGE_CASES),
        ):
            cover = cover_pairs(space, limits, max(int(share * most), 2), covered)
            found.update(dict.fromkeys(d.case for d in cover.cases))
        found.update(dict.fromkeys(cover_large_sizes(space, max(int(share * TOGETHER_CASES), 2))))
    every = [*found, *_with_destinations(list(found)[:SMALL_CASES], op)]
    return [case for case in every if says_something(case, op)]


def says_something(case: Case, op: Op) -> bool:
    """Whether the reference answers the case, and no trivial answer, such as zeros, passes in some mode of it.

    Not in 16 bits either, of a backend that stores intermediates in them, as many do.
    """
    declared = (None, "storage") if case.dtype in ("f16", "bf16") else (None,)
    try:
        asked = [make_question(case, op, mode).case_data for mode in modes_of(case, op)]
        return any(
            not any(find_vacuous_answers(posed, evaluate_expected(posed, how), how) for how in declared)
            for posed in asked
        )
    except (ValueError, LookupError, ArithmeticError, MemoryError):  # it has one mode alone
        return False


def cover_large_sizes(space: Space, most: int) -> list[Case]:
    """At most `most` cases in which two sizes are large together, of numbers that tell one row from another."""
    telling = tuple(fill for fill in space.factors["fill"] if fill in LARGE_FILLS)
    factors = {**space.factors, "fill": telling or space.factors["fill"]}
    if "again" in factors:
        factors["again"] = ("no",)
    plain_space = replace(space, factors=factors)
    cover = cover_pairs(plain_space, TOGETHER, most, _is_no_pair_of_large_sizes)
    return [d.case for d in cover.cases if max(map(math.prod, d.case.shapes.values())) >= LARGE_SIDE**2]


def _is_no_pair_of_large_sizes(pair: Choice) -> bool:
    return min(LEAST.get(level, 0) if name[:5] == "size " else 0 for name, level in pair.items()) < LARGE_SIDE


def _with_destinations(cases: Sequence[Case], op: Op) -> list[Case]:
    """Every so many of these cases again, their results elsewhere."""
    rng = random.Random(op.name)  # noqa: S311
    again = [with_destination(case, op, rng) for case in cases[:: max(len(cases) // DESTINATION_CASES, 1)]]
    return [case for case in dict.fromkeys(again) if is_computable(case, op)][:DESTINATION_CASES]


def write_rows(cases: Sequence[Case], op: Op) -> str:
    """The lines of an array's file: cases of the standard level, and after an empty line those of full."""
    parts = [[c for c in cases if (cost_of(c, op) <= COST_AT_STANDARD) is cheap] for cheap in (True, False)]
    return "\n".join("".join(f"{str(case)[len(case.op) + 1 : -1]}\n" for case in part) for part in parts if part)


def write_array(op: Op) -> int:
    """Write the array of an operator to its file, and return the number of its cases."""
    cases = make_array(op)
    path = FOLDER / f"{op.name}.txt"
    if cases:
        FOLDER.mkdir(exist_ok=True)
        path.write_text(write_rows(cases, op), encoding="utf-8")
    return len(cases)


def main(chosen: Sequence[str]) -> None:
    """Write the arrays of the operators named, of all where none is."""
    for name in chosen or names():
        print(name, write_array(load(name)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
