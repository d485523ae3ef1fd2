"""Rules of cases: the record, and predicates that tell which parts of a rule a case meets.

Predicates on how large a case is: its axes, its rows, the terms of its sums.
"""

from __future__ import annotations

import inspect
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from opproof.cases import Case, left_out
from opproof.cases._case import Shape
from opproof.cases._fills.fills import NOT_FINITE
from opproof.cases._layouts import layouts_of, storage_of
from opproof.reference_ops import Op

Parts = Callable[[Case, Op], Iterable[str]]


@dataclass(frozen=True)
class Rule:
    """One rule: `met` gives the parts that a case meets, `parts` those that an operator owes."""

    name: str
    text: str
    bugs: int  # of the catalogued ones; 0 for a conjunction of other rules
    applies: Callable[[Op], bool]
    met: Parts
    parts: Callable[[Op, Sequence[Case]], Iterable[str]] = lambda op, cases: ("",)
    level: str = "standard"
    least: int = 1  # cases that must meet each part

    def matches(self, case: Case, op: Op) -> bool:
        """Whether the case meets some part of the rule."""
        return bool(set(self.met(case, op)))

    def owed(self, op: Op, cases: Sequence[Case]) -> set[str]:
        """The parts that a built-in operator owes: none where its cases file says why no row could show anything.

        A file may say so of the rule, or of a part of it, such as one dtype: "heavy", "past exp f16".
        """
        left = left_out(op.name)
        if not self.applies(op) or self.name in left:
            return set()
        parts = {given.removeprefix(f"{self.name} ") for given in left if given.startswith(f"{self.name} ")}
        return {part for part in self.parts(op, cases) if not parts & set(part.split())}

    def missing(self, op: Op, cases: Sequence[Case]) -> list[str]:
        """The parts owed that no case of the operator meets."""
        owed = self.owed(op, cases)
        met = Counter(part for case in cases for part in set(self.met(case, op))) if owed else {}
        return sorted(part for part in owed if met.get(part, 0) < self.least)


def make_parts(test: Callable[[Case], object]) -> Parts:
    """A rule without parts."""
    return lambda case, _: ("",) if test(case) else ()


def fill(*fills: str) -> Parts:
    return make_parts(lambda case: case.fill in fills)


def list_param_parts(op: Op, cases: Sequence[Case]) -> list[str]:
    del cases
    return [n for n, default in op.params.items() if default is None or isinstance(default, int | float | str | tuple)]


def find_params_met(case: Case, op: Op) -> list[str]:
    return [n for n, v in case.params if n in op.params and v != op.params[n]]


def find_laid(case: Case, layout: str) -> list[str]:
    """Tensors that lie otherwise in memory than they would contiguously, by this layout."""
    shapes = case.shapes
    return [
        name
        for name, given in layouts_of(case).items()
        if given == layout
        and 0 not in shapes[name]
        and _strides_of(shapes[name], layout) != _strides_of(shapes[name], "contiguous")
    ]


def _strides_of(shape: Shape, layout: str) -> tuple[int, list[int]]:
    """Offset, and the strides of axes longer than 1: the others lie nowhere in particular."""
    storage = storage_of(shape, layout)
    return storage.offset, [s for s, n in zip(storage.strides, shape, strict=True) if n > 1]


def is_unchanged(case: Case) -> bool:
    """Whether a result that could be larger is asked for in the shape of the input."""
    shape = next(iter(case.shapes.values()))
    asked = case.kwargs.get("shape")
    repeats = case.kwargs.get("repeats")
    return asked == shape or repeats == 1 or (isinstance(repeats, tuple) and set(repeats) == {1})


def broadcasts(case: Case) -> bool:
    return len(set(case.shapes.values())) > 1


def heads(case: Case) -> bool:
    s = case.shapes
    return "query" in s and s["query"][1] != s["key"][1]


def is_strided(case: Case) -> bool:
    return any(find_laid(case, layout) for layout in ("transposed", "permuted", "sliced", "gapped"))


def in_place_strided(case: Case) -> bool:
    """Whether a result lies in the memory of a tensor that is not contiguous."""
    return any(case.inplace in find_laid(case, layout) for layout in ("transposed", "permuted", "sliced", "gapped"))


def is_not_involution(dims: object) -> bool:
    """Whether `dims` is a permutation, other than its own inverse."""
    order = [int(d) % len(to_tuple(dims)) for d in to_tuple(dims) if isinstance(d, int)]
    return len(set(order)) == len(order) and any(order[d] != i for i, d in enumerate(order))


#: Parameters that are sizes of the result.
_SIZES = ("output_size", "size", "shape", "num_classes", "num_rows", "repeats")


#: Tensors that say by number which rows are read or written.
INDICES = frozenset({"index", "indices", "ids"})


def to_tuple(value: object) -> tuple[object, ...]:
    """A number per axis as a tuple, where one stands for all too."""
    return value if isinstance(value, tuple) else (value,)


def _list_asked_sizes(case: Case) -> list[int]:
    """Sizes that parameters give to the result."""
    return [n for name, value in case.params if name in _SIZES for n in to_tuple(value) if isinstance(n, int)]


def list_sizes(case: Case) -> list[int]:
    """Every axis of every tensor, and those that parameters give to the result."""
    return [*(n for shape in case.shapes.values() for n in shape), *_list_asked_sizes(case)]


def has_size_within(*ranges: tuple[int, int]) -> Callable[[Case], bool]:
    """Whether some axis has one of these sizes."""
    return lambda case: any(low <= n <= high for n in list_sizes(case) for low, high in ranges)


def count_rows(case: Case) -> int:
    """The most rows, along the last axis, that a tensor has."""
    return max((math.prod(shape[:-1]) for shape in case.shapes.values()), default=0)


def count_terms(case: Case, op: Op) -> int:
    """The most terms that a sum may have: along `dim` where the operator takes one, else along any axis."""
    if "dim" not in op.params:
        return max(list_sizes(case), default=0)
    dims = case.kwargs.get("dim", op.params["dim"])
    if dims is None or dims is inspect.Parameter.empty:
        return math.prod(next(iter(case.shapes.values())))
    numbers = [d for d in to_tuple(dims) if isinstance(d, int)]
    along = [shape[d] for shape in case.shapes.values() for d in numbers if -len(shape) <= d < len(shape)]
    return max([*(along or numbers), *_list_asked_sizes(case)])


def find_long_sums(case: Case, op: Op) -> list[str]:
    """The 16-bit dtype of a case with a sum of over 1000 terms."""
    met = case.dtype in ("f16", "bf16") and count_terms(case, op) > 1000 and case.fill not in NOT_FINITE
    return [case.dtype] if met else []


def has_longer_sum(case: Case, op: Op) -> list[str]:
    """Whether a sum has over 4096 terms."""
    return [""] if count_terms(case, op) > 4096 else []


def find_far_rows(case: Case, op: Op) -> list[str]:
    """The dtype of a case that names 32 rows and more of a table past 4096 rows and 65,536 elements.

    Half the numbers of such rows are none of float16, and where their elements lie is past 16 bits.
    """
    del op
    named = [math.prod(shape) for name, shape in case.shapes.items() if name in INDICES]
    tables = [shape for name, shape in case.shapes.items() if name not in INDICES and shape]
    longest = max([*(n for shape in tables for n in shape), *_list_asked_sizes(case)], default=0)
    width = min((math.prod(shape[1:]) for shape in tables if len(shape) > 1), default=0)
    return [case.dtype] if max(named, default=0) >= 32 and longest > 4096 and longest * width > 65536 else []


def is_past_tile(case: Case, op: Op) -> bool:
    """Whether a row is longer than a tile of 128."""
    return count_terms(case, op) > 128


def has_leading_axes(case: Case) -> bool:
    """Leading axes longer than 1 and all distinct."""
    return any(len(s) >= 3 and min(s[:-1]) > 1 and len(set(s[:-1])) == len(s) - 1 for s in case.shapes.values())


def has_repeated_indices(case: Case) -> bool:
    """More indices than there are places: some repeat, in no order."""
    return any(len(s) and max(s) > 4 for n, s in case.shapes.items() if n in ("index", "indices", "ids", "target"))
