"""Whether the levels that a failing case needs are named: planted conditions on cases drawn from the spaces.

    python benchmarks/delta.py [--cases 300] [--seed 0] [--check]

Each case is drawn from the space of an operator; a condition of one to three levels that it has is planted: its dtype,
its fill, a layout, a parameter, one size (from a power of two on, a multiple of one, or none). A pretended backend
fails exactly where the condition holds. With --check the conditions, of one or two levels, are planted in functions of
PyTorch, which `opproof.check` is given. Printed is how many conditions are named, all and no others. It leaves out
what a real defect adds: failures that depend on numbers, and several defects in one operator.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from tabulate import tabulate

import opproof
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


def try_checks(count: int, rng: random.Random, counts: Counter[tuple[int, str]]) -> None:
    """Check functions that are wrong where one or two planted conditions hold, which the inputs given need not meet."""
    import torch

    def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a @ b

    def softmax(x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, -1)

    def rms(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * w

    while counts.total() < count:
        n, m, k = (rng.choice((40, 63, 64, 96, 100, 128, 200)) for _ in range(3))
        functions: list[tuple[Any, dict[str, tuple[int, ...]]]] = [
            (matmul, {"a": (n, m), "b": (m, k)}),
            (softmax, {"x": (n, m)}),
            (rms, {"x": (n, m), "w": (m,)}),
        ]
        like, shapes = rng.choice(functions)
        name = next(iter(shapes))
        levels = [plant_size(name, axis, shapes[name][axis], rng) for axis in (-1, -2)]
        levels.append((f"{name} is transposed", lambda c: c.layout == "transposed"))
        planted = rng.sample(levels, rng.randint(1, 2))

        def candidate(
            *given: torch.Tensor, like: Any = like, planted: list[Level] = planted, name: str = name
        ) -> torch.Tensor:
            x, y = given[0], like(*given)
            laid = "transposed" if x.dim() == 2 and x.stride(0) == 1 < x.stride(1) else "contiguous"
            seen = Case("call", ((name, tuple(x.shape)),), layout=laid)
            return y * 1.25 if all(test(seen) for _, test in planted) else y

        def draw(seed: int, shapes: Mapping[str, tuple[int, ...]] = shapes) -> list[torch.Tensor]:
            own = torch.Generator().manual_seed(seed)
            return [torch.randn(*shape, generator=own) for shape in shapes.values()]

        report = opproof.check(candidate, like=like, inputs=draw, raises=False)
        said = report.worst.delta if report.failures and report.worst else None
        where = None if not said else tuple(said.partition("; passes")[0].removeprefix("fails where ").split(" and "))
        kind = "missed" if said is None else judge(where, [text for text, _ in planted])
        counts[len(planted), kind] += 1
        print(kind, "|", *(text for text, _ in planted), "|", said, "|", shapes, flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    rng = random.Random(options.seed)  # noqa: S311 - draws, no secrets
    counts: Counter[tuple[int, str]] = Counter()
    calls: list[int] = []
    if options.check:
        try_checks(options.cases, rng, counts)
    for case in () if options.check else draw_on([load(name) for name in names()], str(options.seed), lambda _: True):
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
    if calls:
        print(f"{sum(calls) / len(calls):.1f} calls a case")


KINDS = ("named", "in part", "with others", "nothing said", "missed")


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
