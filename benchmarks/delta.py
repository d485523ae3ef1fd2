"""Whether the levels that a failing case needs are named: planted conditions on cases drawn from the spaces.

    python benchmarks/delta.py [--cases 300] [--seed 0]

Each case is drawn from the space of an operator; a condition of one to three levels that it has is planted: its dtype,
its fill, a layout, a parameter, one size (from a power of two on, a multiple of one, or none). A pretended backend
fails exactly where the condition holds. Printed is how many conditions are named, all and no others. It leaves out
what a real defect adds: failures that depend on numbers, and several defects in one operator.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Callable

from tabulate import tabulate

from opproof.cases import Case
from opproof.cases._layouts import layouts_of
from opproof.harness.space.delta import find_delta, list_sizes
from opproof.harness.space.stream import draw_on
from opproof.reference_ops import Op, load, names

#: A level that a case has: its words in a sentence, and whether another case has it too.
Level = tuple[str, Callable[[Case], bool]]
#: Most levels of a condition.
MOST_LEVELS = 3


def list_levels(case: Case, op: Op, rng: random.Random) -> list[Level]:
    """What a defect may need of a case, one for each factor."""
    found: list[Level] = []
    if case.dtype != "f32":
        found.append((f"the dtype is {case.dtype}", lambda c, d=case.dtype: c.dtype == d))  # type: ignore[misc]
    if case.fill != "normal":
        found.append((f"fill={case.fill}", lambda c, f=case.fill: c.fill == f))  # type: ignore[misc]
    for name, layout in layouts_of(case).items():
        if layout != "contiguous":
            found.append((f"{name} is {layout}", lambda c, n=name, v=layout: layouts_of(c).get(n) == v))  # type: ignore[misc]
    for places in list_sizes(case, op):
        name, axis = places[0]
        size = case.shapes[name][axis]
        if size >= 32:
            found.append(plant_size(name, axis, size, rng))
    return found


def plant_size(name: str, axis: int, size: int, rng: random.Random) -> Level:
    """A condition on the size of an axis which `size` meets."""

    def has(test: Callable[[int], bool]) -> Callable[[Case], bool]:
        return lambda c: name in c.shapes and len(c.shapes[name]) >= -axis and test(c.shapes[name][axis])

    where = f"axis {axis} of {name}"
    step = rng.choice([n for n in (4, 8, 16) if size % n] or [0])
    whole = next((n for n in (64, 32, 16) if size % n == 0), 0)
    if step and rng.random() < 0.5:
        return f"{where} is no multiple of {step}", has(lambda n: n % step != 0)
    if whole and rng.random() < 0.5:
        return f"{where} is a multiple of {whole}", has(lambda n: n % whole == 0)
    edge = 1 << (size - 1).bit_length() - 1
    return f"{where} is {edge + 1} or more", has(lambda n: n > edge)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = random.Random(options.seed)  # noqa: S311 - draws, no secrets
    counts: Counter[tuple[int, str]] = Counter()
    calls: list[int] = []
    for case in draw_on([load(name) for name in names()], str(options.seed), lambda _: True):
        levels = list_levels(case, op := load(case.op), rng)
        if not levels:
            continue
        planted = rng.sample(levels, min(len(levels), rng.randint(1, MOST_LEVELS)))
        asked: list[Case] = []

        def fails(c: Case, planted: list[Level] = planted, asked: list[Case] = asked) -> bool:
            asked.append(c)
            return all(test(c) for _, test in planted)

        delta = find_delta(case, op, fails)
        counts[len(planted), judge(None if delta is None else delta.needed, [said for said, _ in planted])] += 1
        calls.append(len(asked))
        if counts.total() >= options.cases:
            break
    rows = [[n, *(counts[n, k] for k in KINDS)] for n in range(1, MOST_LEVELS + 1)]
    print(tabulate(rows, ["levels", *KINDS]))
    print(f"{sum(calls) / len(calls):.1f} calls a case")


KINDS = ("named", "in part", "with others", "nothing said")


def judge(needed: tuple[str, ...] | None, planted: list[str]) -> str:
    """Whether all levels and no others are named; a size by its axis and the kind of its condition."""
    if needed is None:
        return "nothing said"
    said, meant = ({text.partition(" from ")[0] for text in texts} for texts in (needed, planted))
    if said == meant:
        return "named"
    return "with others" if said - meant else "in part"


if __name__ == "__main__":
    main()
