"""Rules of cases: the record, and predicates that tell which parts of a rule a case meets."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from opproof.cases import Case, left_out
from opproof.cases._case import Shape
from opproof.cases._layouts import layouts_of, storage_of
from opproof.core.dtypes import DTYPES
from opproof.harness.prove.coverage.sizes import pair
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
    parts: Callable[[Op, Sequence[Case]], Iterable[str]] = lambda op, cases: ("",)  # noqa: ARG005
    level: str = "standard"
    least: int = 1  # cases that must meet each part

    def matches(self, case: Case, op: Op) -> bool:
        """Whether the case meets some part of the rule."""
        return bool(set(self.met(case, op)))

    def owed(self, op: Op, cases: Sequence[Case]) -> set[str]:
        """The parts that a built-in operator owes: none where its cases file says why no row could show anything.

        A file may say so of the rule, or of it in one dtype: "heavy", "past exp f16".
        """
        left = left_out(op.name)
        if not self.applies(op) or self.name in left:
            return set()
        dtypes = {dtype for dtype in DTYPES if f"{self.name} {dtype}" in left}
        return {part for part in self.parts(op, cases) if not dtypes & set(part.split())}

    def missing(self, op: Op, cases: Sequence[Case]) -> list[str]:
        """The parts owed that no case of the operator meets."""
        owed = self.owed(op, cases)
        met = Counter(part for case in cases for part in set(self.met(case, op))) if owed else {}
        return sorted(part for part in owed if met.get(part, 0) < self.least)


def when(test: Callable[[Case], object]) -> Parts:
    """A rule without parts."""
    return lambda case, _: ("",) if test(case) else ()


def fill(*fills: str) -> Parts:
    return when(lambda case: case.fill in fills)


def param_parts(op: Op, cases: Sequence[Case]) -> list[str]:
    del cases
    return [n for n, default in op.params.items() if default is None or isinstance(default, int | float | str | tuple)]


def params_met(case: Case, op: Op) -> list[str]:
    return [n for n, v in case.params if n in op.params and v != op.params[n]]


def laid(case: Case, layout: str) -> list[str]:
    """Tensors that lie otherwise in memory than they would contiguously, by this layout."""
    shapes = case.shapes
    return [
        name
        for name, given in layouts_of(case).items()
        if given == layout
        and 0 not in shapes[name]
        and _lies(shapes[name], layout) != _lies(shapes[name], "contiguous")
    ]


def _lies(shape: Shape, layout: str) -> tuple[int, list[int]]:
    """Offset, and the strides of axes longer than 1: the others lie nowhere in particular."""
    storage = storage_of(shape, layout)
    return storage.offset, [s for s, n in zip(storage.strides, shape, strict=True) if n > 1]


def layout_parts(layout: str) -> Callable[[Op, Sequence[Case]], list[str]]:
    """Tensors that can lie so in some case; of several alike the first two, and vectors need no stride of 0."""

    def can(shape: Shape) -> bool:
        long = sum(n > 1 for n in shape)
        return long > (layout == "broadcast") and _lies(shape, layout) != _lies(shape, "contiguous")

    def parts(op: Op, cases: Sequence[Case]) -> list[str]:
        found = sorted({name for case in cases for name, shape in case.shapes.items() if can(shape)})
        return found[:2] if op.variadic else found

    return parts


def layout(layout: str) -> Parts:
    return lambda case, _: laid(case, layout)


def alone(case: Case, op: Op) -> list[str]:
    """Whether one tensor alone is not contiguous while others are."""
    del op
    strided = ("transposed", "permuted", "exchanged", "sliced", "gapped", "cropped", "broadcast")
    odd = {name for layout in strided for name in laid(case, layout)}
    return ["" for _ in odd] if len(odd) == 1 and len(case.shapes) > 1 else []


def one(case: Case, op: Op) -> list[str]:
    """Tensors of one element beside larger ones, off the start of their storage; a scalar alone too."""
    del op
    return [name for name in ones(case) if layouts_of(case)[name] == "offset"]


def ones(case: Case) -> list[str]:
    """Tensors of one element beside larger ones, and a scalar alone."""
    shapes = case.shapes
    large = any(math.prod(shape) > 1 for shape in shapes.values())
    return [name for name, shape in shapes.items() if shape == () or (large and math.prod(shape) == 1)]


def one_parts(op: Op, cases: Sequence[Case]) -> list[str]:
    """Tensors that some case gives one element; of several alike the first two."""
    found = sorted({name for case in cases for name in ones(case)})
    return found[:2] if op.variadic else found


def unchanged(case: Case) -> bool:
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


def strided(case: Case) -> bool:
    return any(laid(case, layout) for layout in ("transposed", "permuted", "sliced", "gapped"))


def in_place_strided(case: Case) -> bool:
    """Whether a result lies in the memory of a tensor that is not contiguous."""
    return any(case.inplace in laid(case, layout) for layout in ("transposed", "permuted", "sliced", "gapped"))


def not_involution(dims: object) -> bool:
    """Whether `dims` is a permutation, other than its own inverse."""
    order = [int(d) % len(pair(dims)) for d in pair(dims) if isinstance(d, int)]
    return len(set(order)) == len(order) and any(order[d] != i for i, d in enumerate(order))
