"""Rules of long axes: every axis of every tensor, one at a time, past the ends of counters, grids and blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from opproof.cases import Case, short
from opproof.cases._case import Shape
from opproof.harness.prove.coverage import ops as on
from opproof.harness.prove.coverage.case import Rule
from opproof.reference_ops import Op

_SHORT = 64  # no other axis of the tensor is longer


def _places(shape: Shape, axis: int) -> tuple[str, ...]:
    """What an axis is called: by number, and as the first or the last of a tensor of any rank."""
    ends = (("first",) if axis == 0 and len(shape) > 1 else ()) + (("last",) if axis == len(shape) - 1 else ())
    return (str(axis), *ends)


def axes(n: int) -> Callable[[Case, Op], Iterable[str]]:
    """Axes of length `n` in tensors that are short along all others."""

    def met(case: Case, op: Op) -> Iterable[str]:
        del op
        for name, shape in case.shapes.items():
            if n in shape and sum(m > _SHORT for m in shape) == 1:
                yield from (f"{name}.{place}" for place in _places(shape, shape.index(n)))

    return met


def _all(op: Op, cases: Sequence[Case]) -> set[str]:
    """Every axis of tensors of one rank, the first and the last of others; of tensors alike the first two."""
    ranks: dict[str, set[int]] = {}
    for case in cases:
        for name, shape in case.shapes.items():
            ranks.setdefault(name, set()).add(len(shape))
    named = sorted(ranks)[:2] if op.variadic else ranks
    return {
        f"{name}.{place}"
        for name in named
        for place in (range(max(ranks[name])) if len(ranks[name]) == 1 else ("first", "last"))
    }


def axis_parts(n: int) -> Callable[[Op, Sequence[Case]], set[str]]:
    """The axes that owe length `n`: all but those whose rows end before it, as the operator's cases file says why."""

    def parts(op: Op, cases: Sequence[Case]) -> set[str]:
        ends = short(op.name)
        return {axis for axis in _all(op, cases) if axis not in ends or ends[axis].longest >= n}

    return parts


def largest(case: Case, op: Op) -> Iterable[str]:
    """Tensors with an axis of over 65,536."""
    del op
    return [name for name, shape in case.shapes.items() if max(shape, default=0) > 65536]


def _largest_parts(op: Op, cases: Sequence[Case]) -> set[str]:
    return {axis.partition(".")[0] for axis in axis_parts(65537)(op, cases)}


LONG = (
    *(
        Rule(f"{n} long", f"every axis {n} long once, the others short", 0, on.tensors, axes(n), axis_parts(n))
        for n in (1025, 4099, 16385)
    ),
    Rule("> 65536", "an axis of over 65536, in every tensor", 0, on.tensors, largest, _largest_parts),
    *(
        Rule(
            *(f"{n} long", f"every axis {n} long once, the others short", 0),
            on.tensors,
            axes(n),
            axis_parts(n),
            level="full",
        )
        for n in (65537, 131073)
    ),
)
