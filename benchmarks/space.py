"""Leave-one-out: what is still caught without the levels that came with a family of bugs, and how many cases it takes.

    python benchmarks/space.py --asked FILE [--draws 200] [--json docs/data/space.json]

Each bug of benchmarks/shipped, and some mutants of benchmarks/mutation, are asked once at all cases of their operator:
the rows and the array of its standard level, and what `run --for` draws. FILE keeps which case tells of which bug; an
operator that it has is not asked again. The rest is counting: a case that has a level that is left out does not count,
and none takes its place, so that figures without it are the least.

A case tells of a bug where the answer has another form than the right one, or is off by more than FAR of the largest
number; what is closer is judged as a run does.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tabulate import tabulate
from tqdm import tqdm

from opproof.backends.loaded import resolve_members
from opproof.backends.protocol import Unsupported
from opproof.cases import Case
from opproof.cases._registry import drawn_cases, listed_cases
from opproof.core.dtypes import FLOATS
from opproof.core.text import dump_json
from opproof.core.verdicts import FAILED, Mode
from opproof.harness.judge.judgement import judge
from opproof.harness.run.attempt import run_task
from opproof.harness.run.hosts.start import InProcessHost
from opproof.harness.run.task import Task
from opproof.harness.space.coverage import class_of
from opproof.harness.space.stream import draw_on
from opproof.reference_ops import Op, load

sys.path.insert(0, str(Path(__file__).parent))
from mutation.memory import memory_mutants
from mutation.mutant import Mutant
from mutation.results import result_mutants
from mutation.trials import CLEAR, Trial, profile_of
from shipped import BUGS, Shipped

#: An answer that is off by more of the largest number is wrong without a judge.
FAR = 2.0**-6
#: Seconds of a CPU that drawing takes of one operator: those of large ones are fewer.
DRAWING_SECONDS = 4.0
#: Cases of one operator that ten minutes of --for draw, of all on two cores: 65 records a second and core, three of
#: two cases, of 336 operators.
DRAWN_IN_TEN_MINUTES = 150
#: Cases an operator at which the curve has a point.
POINTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
#: Operators of which mutants are asked, in float32 and forwards: of elements, of rows, of places.
OPERATORS_WITH_MUTANTS = ("add", "softmax", "gather")
#: Axes of which a launch has no more than 16 bits.
LONG_AXIS = 65535
#: The least of two large sizes, and of sizes that are whole or odd ones.
LARGE_SIDE = 255
LEAST_OF_CLASSES = 10


@dataclass(frozen=True)
class Family:
    """Bugs of one space, whose words say one of `tells`, and the levels that came with it."""

    name: str
    since: str  # the commit that brought the levels, and what for
    tells: tuple[str, ...]
    has_level: Callable[[Case], bool]
    keeps_rows: bool = False  # what came with it is drawn alone

    def is_of(self, what: str) -> bool:
        """Whether a bug belongs to it."""
        return any(word in what for word in self.tells)


def has_layout(*names: str) -> Callable[[Case], bool]:
    """Whether some tensor or cotangent of a case lies so."""
    return lambda case: any(name in case.layout for name in names)


def has_fill(*names: str) -> Callable[[Case], bool]:
    """Whether a case has one of these fills."""
    return lambda case: case.fill in names


def has_size(test: Callable[[int], bool]) -> Callable[[Case], bool]:
    """Whether some axis of a case is such a size."""
    return lambda case: any(test(n) for shape in case.shapes.values() for n in shape)


def has_long_axis(case: Case) -> bool:
    """Whether an axis, or a parameter that counts, is past 16 bits."""
    given = [v for v in case.kwargs.values() if isinstance(v, int)]
    return any(n > LONG_AXIS for n in itertools.chain(given, *case.shapes.values()))


def has_two_large_sizes(case: Case) -> bool:
    """Whether two sizes are large, of one tensor or of several."""
    shapes = [[n for n in shape if n >= LARGE_SIDE] for shape in case.shapes.values()]
    return max(map(len, shapes)) > 1 or len({n for shape in shapes for n in shape}) > 1


def is_whole(size: int) -> bool:
    """Whether a size is of the classes of whole ones."""
    return not class_of(size).endswith("±")


FAMILIES = (
    Family("an axis past 65,535", "1f450123: every seventh of 34 bugs of that time lay there",
           ("past 65,5", "65,536", "more than 65,5", "past 32,768", "than 32,768"), has_long_axis),
    Family("two large sizes together", "b07053fa: 256 rows and more than 1,024 columns, missed by the list",
           ("500 rows", "512 rows and more", "1,024 and more of them", "512 columns", "k of 1,024", "two vectors of"),
           has_two_large_sizes),
    Family("sizes that are multiples of nothing", "DESIGN: as one level with whole sizes they dilute each other",
           ("no multiple", "past a multiple", "no power of two", "the tail", "odd rows", "odd terms", "odd number",
            "last whole", "on past its end"), has_size(lambda n: n >= LEAST_OF_CLASSES and not is_whole(n))),
    Family("whole tiles", "92ae40de: rows of whole tiles; later the whole sizes of each class",
           ("keys a multiple", "two results of a multiple", "whole tiles", "planes of vectors", "even number of",
            "768 channels"), has_size(lambda n: n >= LEAST_OF_CLASSES and is_whole(n))),
    Family("odd numbers of eights", "0fccd5c9: the second hold-out",
           ("odd eights", "odd number of fours"), has_size(lambda n: n in (72, 104, 136, 264, 1032))),
    Family("strides of axes of 1 (loose)", "490f2789, 619f1693: MLX 4139",
           ("axis of 1", "padded axis", "(n, 1, m, k)"), has_layout("loose")),
    Family("rows in another order (middle, exchanged)", "3f318898: MLX 4366; 619f1693: heads beside tokens",
           ("rows kept", "experts in order"), has_layout("middle", "exchanged")),
    Family("channels last", "3f318898", ("hannels last", "channels-last"), has_layout("channels")),
    Family("channel by channel (planes)", "858912c4: the third hold-out", ("stored second",), has_layout("planes")),
    Family("one number a channel", "858912c4: the third hold-out", ("one number a channel",),
           lambda case: any(len(s) > 2 and s[0] == math.prod(s) > 1 for s in case.shapes.values())),
    Family("first rows of longer matrices (cropped)", "92ae40de", ("cropped", "at a dense stride"),
           has_layout("cropped")),
    Family("stride 0", "3f318898: candle 3744; 36aeb54c: cotangents of sums",
           ("expanded", "stride 0", "broadcast inputs"), has_layout("broadcast", "expanded")),
    Family("results in place and strided", "cc7e514d",
           ("in place", "result is written", "result with strides", "into a view"),
           lambda case: bool(case.destinations)),
    Family("a number beside a strided tensor", "490f2789: rows beside one number", ("times one number",),
           lambda case: () in case.shapes.values() and case.layout != "contiguous"),
    Family("tensors of several dtypes", "ed18646d", ("of two dtypes", "float32 weight"), lambda case: bool(case.mixed)),
    Family("five axes", "1f450123, 858912c4: counted from behind", ("five axes", "of five"),
           lambda case: any(len(shape) > 4 for shape in case.shapes.values())),
    Family("rows of one number, limits of two tensors", "0fccd5c9: the second hold-out",
           ("number alone", "of -0 alone", "NaN with a sign", "quotient that overflows"), has_fill("alone", "limits")),
    Family("opposed scores, padded masks", "490f2789", ("-5e4", "keys left out"), has_fill("opposed", "padded")),
    Family("huge numbers", "619f1693: results past float16", ("squares, which overflow", "past float32"),
           has_fill("huge")),
    Family("a space of integers and 8 bits", "a56c6478: integers had rows alone",
           ("ntegers", "least integer", "least number", "-2^31"), lambda case: case.dtype not in FLOATS,
           keeps_rows=True),
)  # fmt: skip


class Asked(Shipped):  # type: ignore[misc] # imported by a path
    """The backend that has one bug: it declines where the bug is not, and dies where it is far from right."""

    def _of(self, call: Any, mode: str) -> Any:
        if (call.op.name, mode) != (self.bug.op, self.bug.mode):
            return super()._of(call, mode)
        with np.errstate(all="ignore"):
            found = self.bug.wrong(call)
        off = 0.0 if found is None else measure_distance(found, call.honest())
        if off == 0:
            raise Unsupported("the bug is not here")
        if off > FAR:
            raise ArithmeticError("far from right")
        return found


def measure_distance(got: Sequence[Any], right: Sequence[Any]) -> float:
    """The largest difference in times of the largest number; inf of another form or of NaN for a number, 0 of all bits.

    Where what is no number differs the judge says what is wrong: FAR.
    """
    if len(got) != len(right):
        return math.inf
    return max((_measure_array(a, b) for a, b in zip(got, right, strict=True)), default=0.0)


def _measure_array(a: Any, b: Any) -> float:
    if a is None or b is None:
        return 0.0 if a is b else math.inf
    x, y = np.asarray(a), np.asarray(b)
    if (x.shape, x.dtype) != (y.shape, y.dtype):
        return math.inf
    if x.tobytes() == y.tobytes():
        return 0.0
    if y.dtype.kind in "iub":  # of equal numbers any may be named
        return FAR
    x, y = x.astype(np.float64), y.astype(np.float64)
    if (np.isnan(x) & np.isfinite(y)).any():
        return math.inf
    fine = np.isfinite(y)
    if (np.isfinite(x) != fine).any() or not np.array_equal(x[~fine], y[~fine], equal_nan=True) or not fine.any():
        return FAR
    return float(np.abs(x[fine] - y[fine]).max() / max(np.abs(y[fine]).max(), np.finfo(float).tiny))


def find_telling(bug: Any, op: Op, cases: Iterable[Case]) -> list[str]:
    """The cases that tell of a bug."""
    host = InProcessHost(resolve_members(Asked(bug=bug), "shipped"))
    asked = [case for case in cases if case.dtype in bug.dtypes.split(",")]
    told = (run_task(host, Task("shipped", str(c), bug.mode), op, math.inf, single_call=True) for c in asked)
    return [str(c) for c, attempt in zip(asked, told, strict=True) if attempt.judgement.verdict in FAILED]


def ask_mutants(op: Op, rows: Sequence[Case], cases: Sequence[Case]) -> dict[str, list[str]]:
    """Of each mutant of what comes back, or of memory that is misread, the cases in float32 that tell of it."""
    posed = [Trial(c, op, Mode.FORWARD, judge) for c in cases if c.dtypes == ("f32",)]
    listed = {str(case) for case in rows}
    profile = profile_of(op, Mode.FORWARD, "f32", [t for t in posed if str(t.case) in listed])
    mutants = [*memory_mutants(profile), *(m for m in result_mutants(profile) if "call before" not in m.name)]
    return {m.name: [str(t.case) for t in posed if _tells_of(t, m)] for m in mutants}


def _tells_of(trial: Trial, mutant: Mutant) -> bool:
    answer = trial.answer_of(mutant, {})
    if answer is None:
        return True
    off = measure_distance(answer, trial.honest)
    return off > FAR or (off > 0 and trial.judgement(answer).verdict not in CLEAR and trial.sound)


def draw_cases(op: Op, known: set[Case], most: int) -> list[Case]:
    """What `--for` draws of an operator, none of those that are known."""
    started, found = time.process_time(), list[Case]()
    for case in draw_on([op], "space", lambda case: case not in known):
        found.append(case)
        if len(found) >= most or time.process_time() - started > DRAWING_SECONDS:
            break
    return found


def ask(name: str, bugs: Sequence[Any], most: int) -> dict[str, Any]:
    """What is kept of an operator: its cases by where they come from, and which tell of each bug and mutant."""
    op, rows, array = load(name), listed_cases(name), drawn_cases(name)
    cases = {"rows": rows, "array": array, "drawn": draw_cases(op, {*rows, *array}, most)}
    every = list(dict.fromkeys(itertools.chain.from_iterable(cases.values())))
    return {
        "operator": name,
        **{part: list(map(str, some)) for part, some in cases.items()},
        "bugs": {f"{bug.link}: {bug.what}": find_telling(bug, op, every) for bug in bugs},
        "mutants": ask_mutants(op, rows, every) if name in OPERATORS_WITH_MUTANTS else {},
    }


@dataclass(frozen=True)
class Told:
    """A bug or a mutant, and the cases that tell of it among those of its operator: by rows, array, and draws."""

    what: str
    is_mutant: bool
    tells: frozenset[str]
    parts: Mapping[str, Sequence[str]]

    def count(self, part: str) -> int:
        """How many cases of a part tell of it."""
        return sum(case in self.tells for case in self.parts[part])

    def is_caught(self, parts: Sequence[str], without: Family | None = None) -> bool:
        """Whether a case of these parts tells of it, of those that have no level of a family."""
        return any(
            case in self.tells and not (without and _is_left_out(case, part, without))
            for part in parts
            for case in self.parts[part][: DRAWN_IN_TEN_MINUTES if part == "drawn" else None]
        )


def _is_left_out(case: str, part: str, family: Family) -> bool:
    return not (family.keeps_rows and part == "rows") and family.has_level(Case.parse(case))


def read_told(asked: Iterable[Mapping[str, Any]]) -> list[Told]:
    """All bugs of what was kept, and the mutants that some case tells of: others are none of their operator."""
    found = []
    for one in asked:
        parts = {part: one[part] for part in ("rows", "array", "drawn")}
        found += [Told(what, False, frozenset(cases), parts) for what, cases in one["bugs"].items()]
        named = ((f"{one['operator']}: {name}", cases) for name, cases in one["mutants"].items() if cases)
        found += [Told(what, True, frozenset(cases), parts) for what, cases in named]
    return found


STANDARD, DRAWN_ON = ("rows", "array"), ("rows", "array", "drawn")


def leave_out(family: Family, told: Iterable[Told]) -> dict[str, Any]:
    """What of a family is caught with its levels and without, at standard and after ten minutes of `--for`."""
    own = [one for one in told if family.is_of(one.what)]
    counts = {
        key: [sum(one.is_caught(parts, without) for one in own if one.is_mutant is mutant) for mutant in (False, True)]
        for key, parts, without in (
            ("standard", STANDARD, None),
            ("without", STANDARD, family),
            ("drawn", DRAWN_ON, None),
            ("drawn_without", DRAWN_ON, family),
        )
    }
    lost = [one.what for one in own if one.is_caught(DRAWN_ON) and not one.is_caught(DRAWN_ON, family)]
    of = [sum(one.is_mutant is mutant for one in own) for mutant in (False, True)]
    return {"family": family.name, "since": family.since, "of": of, **counts, "lost": lost}


def trace_curve(told: Sequence[Told]) -> dict[str, list[float]]:
    """The share of bugs that so many cases of an operator catch, in any order, from rows, array and draws.

    Of `n` cases of which `c` tell, `k` are without one of these in C(n - c, k) of C(n, k) choices.
    """
    found: dict[str, list[float]] = {}
    for part in DRAWN_ON:
        sizes = [(len(one.parts[part]), one.count(part)) for one in told]
        found[part] = [
            round(sum(1 - math.comb(n - c, min(k, n)) / math.comb(n, min(k, n)) for n, c in sizes) / len(sizes), 4)
            for k in POINTS
            if k <= 2 * max(n for n, _ in sizes)
        ]
    return found


def summarise(asked: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the page shows."""
    told = read_told(asked)
    bugs, mutants = ([one for one in told if one.is_mutant is mutant] for mutant in (False, True))
    return {
        "operators": len(asked),
        "cases": {part: sum(len(one[part]) for one in asked) for part in DRAWN_ON},
        "drawn_in_ten_minutes": DRAWN_IN_TEN_MINUTES,
        "families": [leave_out(family, told) for family in FAMILIES],
        "points": list(POINTS),
        "curve": trace_curve(bugs),
        "caught": {
            name: [sum(one.is_caught(parts) for one in some) for some in (bugs, mutants)]
            for name, parts in (("rows", ("rows",)), ("array", ("array",)), ("standard", STANDARD), ("drawn", DRAWN_ON))
        },
        "of": [len(bugs), len(mutants)],
    }


def main() -> None:
    """Ask what FILE lacks, and print or write the summary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--asked", type=Path, required=True, metavar="FILE")
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # a wrong formula may overflow, and NumPy says so
    options.asked.touch()
    known = [json.loads(line) for line in options.asked.read_text(encoding="utf-8").splitlines()]
    ordered = sorted(BUGS, key=lambda bug: not any(family.is_of(bug.what) for family in FAMILIES))
    names = dict.fromkeys([*OPERATORS_WITH_MUTANTS, *(bug.op for bug in ordered)])
    for name in tqdm([name for name in names if name not in {one["operator"] for one in known}], disable=None):
        known.append(ask(name, [bug for bug in BUGS if bug.op == name], options.draws))
        with options.asked.open("a", encoding="utf-8") as file:
            file.write(json.dumps(known[-1]) + "\n")
    found = summarise(known)
    keys = ("family", "of", "standard", "without", "drawn", "drawn_without")
    print(tabulate([[family[key] for key in keys] for family in found["families"]], keys))
    print(found["caught"], found["of"])
    if options.json:
        options.json.write_text(dump_json(found), encoding="utf-8")


if __name__ == "__main__":
    main()
