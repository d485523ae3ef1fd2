"""Covering arrays: few cases in which every pair of levels of any two factors stands together.

    python benchmarks/arrays.py [OPERATOR ...]

What tells most for its cost comes first. No library does that: covertable and allpairspy hold constraints for pairs
but not for whole rows (of covertable's 317 rows for rms_norm 194 are no cases), and neither weighs cost.

The arrays that come with opproof lie in cases/drawn, as a run cannot wait for them. They are made once for a version of
the suite: this writes those of the operators named, or of all.
"""

from __future__ import annotations

import itertools
import math
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from opproof.cases import Case
from opproof.cases._registry import DRAWN, DTYPES_BY_DEFAULT, listed_cases
from opproof.core.verdicts import Mode
from opproof.harness.judge.judgement import find_vacuous_answers
from opproof.harness.reference.expected import evaluate_expected
from opproof.harness.reference.question import make_question
from opproof.harness.reference.valid_case import try_case
from opproof.harness.space.cost import (
    MEMORY_BYTES,
    SMALL,
    DrawnCase,
    cost_of,
    draw_some,
    is_computable,
    modes_of,
    spaces_of,
)
from opproof.harness.space.draw import LARGE_FILLS, LEAST, Limits, fits, with_destination
from opproof.harness.space.factors import ABSENT, DEFAULT, LEADING, SignatureForm, Space, has_effect
from opproof.harness.space.pairs import ATTEMPTS, Allows, Choice, PairTable, choose_levels
from opproof.reference_ops import Op, load, names

#: More cases than any space has.
NO_LIMIT = 10**6
#: Candidates of which one is taken.
CANDIDATES = 4
#: The most that a case of the standard level costs, in those of the smallest: few cases make up most of the cost.
COST_AT_STANDARD = 6
#: The same of cases with an axis that 16 bits do not count.
COST_OF_LONG = 24
#: The most that any case costs.
MAX_COST = 48
#: What cases of two large sizes have at most.
TOGETHER = Limits(elements=2**19, work=2**21)
#: The least of a large size: as many rows as a block has threads, and half of what one takes of a row.
LARGE_SIDE = 255
#: Cases of an operator's array: small ones, such with a size that only large ones have, and such with two large sizes.
SMALL_CASES = 64
LARGE_CASES = 8
TOGETHER_CASES = 12
#: Cases of integers, and of floats of 8 bits.
OTHER_CASES = 12
#: Draws of which a case with a long axis is the cheapest.
LONG_TRIES = 192
#: Parameters that name a type of numbers, though none ends in "type", or what is done with the results.
NOT_WAYS = ("to", "scales", "norm", "reduction")
#: Cases of these again with results that are strided or in place.
DESTINATION_CASES = 5
#: The part of these that the forms of an operator beside its first share.
SHARE_OF_OTHER_FORMS = 0.4


def cover_pairs(space: Space, limits: Limits, most: int = NO_LIMIT, covered: Allows | None = None) -> Cover:
    """At most `most` cases in which each pair of levels that can go together does, at little cost.

    Greedy, as AETG (Cohen et al., The AETG system, 1997): candidates grow from a pair that is still open, level by
    level; of a few the one with most new pairs per cost is taken. A pair of which no candidate can be computed is
    given up. Pairs that are `covered` elsewhere are not asked for.
    """
    table = PairTable(space.factors, lambda choice: goes_into_array(choice, space, limits), covered)
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
    return Cover(order_by_gain(drawn, space.op), sum(n >= ATTEMPTS for n in table.failures.values()))


def goes_into_array(choice: Choice, space: Space, limits: Limits) -> bool:
    """Whether these levels went together when the arrays of this version were made.

    It is `is_allowed` but for leading axes: where their last is not said the others count as all, and a layout counts
    though a tensor that broadcasts is too short for it. With `is_allowed` in its place all arrays are other ones, whose
    cases no backend has been asked.
    """
    leading = [choice.get(f"size {name}") for name in LEADING]
    if any(a == ABSENT and b not in (ABSENT, None) for a, b in itertools.pairwise(leading)):
        return False
    known = [level for level in leading if level is not None]
    is_said = ABSENT in known or len(known) >= len(LEADING) - 1
    before = sum(level != ABSENT for level in known) - 1
    for operand in space.form.operands:
        name, rank = operand.name, len(operand.axes) + before * operand.has_leading
        layout = choice.get(f"layout {name}", "contiguous")
        if layout != "contiguous" and (choice.get(f"with {name}") == "no" or choice.get("again") == name):
            return False
        if (is_said or not operand.has_leading) and not has_effect(layout, (1,) * rank):
            return False
    dim = space.values.get(("dim", choice.get("param dim", DEFAULT)))
    first = space.form.operands[0]
    rank = len(first.axes) + before * first.has_leading if is_said or not first.has_leading else 1 << 62
    named = [a for a in (dim if isinstance(dim, tuple) else (dim,)) if isinstance(a, int)]
    return all(-rank <= a < rank for a in named) and fits(choice, space, limits)


@dataclass(frozen=True)
class Cover:
    """Cases that cover what can be covered, and the number of pairs that no case was found for."""

    cases: list[DrawnCase]
    given_up: int


def pairs_of(choice: Choice) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Every two levels of a choice."""
    return itertools.combinations(sorted(choice.items()), 2)


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
    long: dict[Case, None] = {}
    ways: dict[Case, None] = {}
    for k, space in enumerate(spaces):
        share = 1.0 if k == 0 else SHARE_OF_OTHER_FORMS / (len(spaces) - 1)
        for limits, covered, most in (
            (SMALL, None, SMALL_CASES),
            (Limits(), lambda pair, space=space: goes_into_array(pair, space, SMALL), LARGE_CASES),
        ):
            cover = cover_pairs(space, limits, max(int(share * most), 2), covered)
            found.update(dict.fromkeys(d.case for d in cover.cases))
        found.update(dict.fromkeys(cover_large_sizes(space, max(int(share * TOGETHER_CASES), 2))))
        before = [*listed_cases(op.name), *(c for c in found if is_at_standard(c, op)), *long]
        long.update(dict.fromkeys(cover_long_axes(space, before)))
        ways.update(dict.fromkeys(cover_long_levels(space, [*before, *long, *ways])))
    others = [d.case for space in spaces_of(op, of_floats=False) for d in cover_pairs(space, SMALL, OTHER_CASES).cases]
    every = [*found, *_with_destinations(list(found)[:SMALL_CASES], op), *long, *ways, *others]
    return [case for case in every if says_something(case, op)]


def cover_long_axes(space: Space, before: Iterable[Case], rng: random.Random | None = None) -> list[Case]:
    """A case for each axis that no case `before` of the same form has past 16 bits, in f32, its other sizes few."""
    rng = rng or random.Random(f"long {space.op.name} {space.form}")  # noqa: S311 - draws, no secrets
    met = {long_axes(case) for case in before if case.dtype in DTYPES_BY_DEFAULT and is_of_form(case, space.form)}
    found: list[Case] = []
    for name, levels in space.factors.items():
        if name[:5] == "size " and "64k±" in levels:
            tries = (_draw_long(space, name, rng) for _ in range(LONG_TRIES))
            cases = [d.case for d in tries if d and (k := long_axes(d.case)) and k not in met and not _is_far(k, name)]
            ordered = sorted(
                (c for c in cases if is_at_standard(c, space.op)), key=lambda c: (_is_a_line(c), cost_of(c, space.op))
            )
            telling = (
                c for c in ordered if _has_few_results(c, space.op) and says_something(c, space.op, [Mode.FORWARD])
            )
            best = next(telling, None)
            if best is not None:
                met.add(long_axes(best))
                found.append(best)
    return found


def cover_long_levels(space: Space, before: Iterable[Case]) -> list[Case]:
    """The same for each way that a parameter names, such as a mode: another kernel, with counters of its own.

    Operators that are linear have every axis long in each way, others one axis: their judgement costs more.
    Types of numbers are no ways, as one kernel is made of all, nor is what is done with results at last.
    """
    rng = random.Random(f"levels {space.op.name} {space.form}")  # noqa: S311 - draws, no secrets
    known, found = [case for case in before if case.dtype in DTYPES_BY_DEFAULT], list[Case]()
    met: Counter[frozenset[tuple[str, int]]] = Counter()
    for factor, levels in space.factors.items():
        name = factor.removeprefix("param ")
        ways = {level: space.values[name, level] for level in levels if (name, level) in space.values}
        if name.endswith("type") or name in NOT_WAYS or not any(isinstance(way, str) for way in ways.values()):
            continue
        for level, way in ways.items():
            if way is None or way == space.op.params[name]:
                continue
            alike = [case for case in (*known, *found) if case.kwargs.get(name) == way]
            fixed = replace(space, factors={**space.factors, factor: (level,)})
            cases = cover_long_axes(fixed, alike, rng)
            if not space.op.multilinear:
                cases = [] if any(map(long_axes, alike)) else sorted(cases, key=lambda case: met[long_axes(case)])[:1]
            met.update(map(long_axes, cases))
            found += cases
    return found


def long_axes(case: Case) -> frozenset[tuple[str, int]]:
    """Its axes that 16 bits do not count, from the last of each tensor."""
    shapes = case.shapes.items()
    return frozenset((name, i - len(shape)) for name, shape in shapes for i, n in enumerate(shape) if n > 65535)


def is_of_form(case: Case, form: SignatureForm) -> bool:
    """Whether its tensors have as many axes as in the form, and its parameters name as many sizes."""
    shapes, given = case.shapes, case.kwargs
    ranks = ((len(shapes[o.name]), len(o.axes)) for o in form.operands if o.name in shapes and not o.has_leading)
    sizes = ((given.get(name), len(re.findall(r"\w+", text))) for name, text in form.bindings)
    return all(a == b for a, b in ranks) and all(len(v) == n for v, n in sizes if isinstance(v, tuple))


def _has_few_results(case: Case, op: Op) -> bool:
    """Whether the reference can compute the case, and its results are no more than its tensors may be."""
    return is_computable(case, op) and sum(y.size for y in try_case(case, op, MEMORY_BYTES)) <= TOGETHER.elements


def _is_far(axes: frozenset[tuple[str, int]], name: str) -> bool:
    """Whether this is one of any number of leading axes, and the fourth from the last, or beyond."""
    return name.startswith("size lead") and min(i for _, i in axes) <= -4


def _is_a_line(case: Case) -> bool:
    """Whether a long axis has none beside it."""
    return any(max(shape, default=0) == math.prod(shape) > 65535 for shape in case.shapes.values())


def is_at_standard(case: Case, op: Op) -> bool:
    """Whether the standard level pays for it: more for an axis that 16 bits do not count."""
    most = COST_OF_LONG if case.dtype == "f32" and long_axes(case) else COST_AT_STANDARD
    return cost_of(case, op) <= most


def _draw_long(space: Space, long: str, rng: random.Random) -> DrawnCase | None:
    """A case of any levels and any number of axes, of which this one is long and the others are few."""
    sizes = [name for name in space.factors if name[:5] == "size "]
    leading = [name for name in sizes if ABSENT in space.factors[name]]
    least = 1 + leading.index(long) if long in leading else min(1, len(leading))
    absent = set(leading[rng.randint(least, len(leading)) :])
    fills = tuple(fill for fill in space.factors["fill"] if fill in LARGE_FILLS) or space.factors["fill"]
    factors = {**space.factors, "dtype": ("f32",), "needs": ("all",), "fill": fills}
    for name in sizes:
        factors[name] = (ABSENT,) if name in absent else tuple(v for v in factors[name] if v in ("1", "few"))
    factors[long] = ("64k±",)
    return draw_some(choose_levels(factors, lambda c: goes_into_array(c, space, TOGETHER), rng), space, TOGETHER)


def says_something(case: Case, op: Op, modes: Iterable[Mode] | None = None) -> bool:
    """Whether the reference answers the case, and no trivial answer, such as zeros, passes in some mode of it.

    Not in 16 bits either, of a backend that stores intermediates in them, as many do.
    """
    declared = (None, "storage") if case.dtype in ("f16", "bf16") else (None,)
    try:
        asked = [make_question(case, op, mode).case_data for mode in modes or modes_of(case, op)]
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
    return [d.case for d in cover.cases if _count_large(d.choice) >= 2]


def _is_no_pair_of_large_sizes(pair: Choice) -> bool:
    return _count_large(pair) < 2


def _count_large(choice: Choice) -> int:
    """How many sizes are large, of one tensor or of several."""
    return sum(name[:5] == "size " and LEAST.get(level, 0) >= LARGE_SIDE for name, level in choice.items())


def _with_destinations(cases: Sequence[Case], op: Op) -> list[Case]:
    """Every so many of these cases again, their results elsewhere."""
    rng = random.Random(op.name)  # noqa: S311
    again = [with_destination(case, op, rng) for case in cases[:: max(len(cases) // DESTINATION_CASES, 1)]]
    return [case for case in dict.fromkeys(again) if is_computable(case, op)][:DESTINATION_CASES]


def write_rows(cases: Sequence[Case], op: Op) -> str:
    """The lines of an array's file: cases of the standard level, and after an empty line those of full."""
    parts = [[c for c in cases if is_at_standard(c, op) is cheap] for cheap in (True, False)]
    return "\n".join("".join(f"{str(case)[len(case.op) + 1 : -1]}\n" for case in part) for part in parts if part)


def write_array(op: Op) -> int:
    """Write the array of an operator to its file, and return the number of its cases."""
    cases = make_array(op)
    path = DRAWN / f"{op.name}.txt"
    if cases:
        DRAWN.mkdir(exist_ok=True)
        path.write_text(write_rows(cases, op), encoding="utf-8")
    return len(cases)


def main(chosen: Sequence[str]) -> None:
    """Write the arrays of the operators named, of all where none is."""
    for name in chosen or names():
        print(name, write_array(load(name)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
