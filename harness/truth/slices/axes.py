"""Axes along which an operator's slices are independent: evaluated by themselves and joined they give the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from opproof.cases import Case
from opproof.core.dtypes import DTYPES
from opproof.reference_ops import Op, Trait

Shape = tuple[int, ...]
#: Of every axis the first slice of a block and the one after its last.
Block = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Axis:
    """`extent` slices; `of` says which axis of a tensor, input or output, counted from the last, it is.

    A tensor that is not named, or has too few axes, belongs to every slice as a whole. One that is shorter there, by
    a whole factor, has slices that several share: groups of heads, what is broadcast. Their gradients add up.
    """

    extent: int
    of: Mapping[str, int]

    def within(self, name: str, shape: Shape) -> int | None:
        """Which axis it is of a tensor of this shape; None where it is none."""
        at = self.of.get(name)
        return None if at is None or -at > len(shape) else at

    def sharing(self, name: str, shape: Shape) -> int:
        """How many slices share one of the tensor's."""
        at = self.within(name, shape)
        return self.extent if at is None else self.extent // max(shape[at], 1)

    def valid(self, size: int, shapes: Mapping[str, Shape]) -> bool:
        """Whether blocks of `size` slices split no tensor between two of them unevenly."""
        factors = [self.sharing(name, shape) for name, shape in shapes.items()]
        return all(size % f == 0 or f % size == 0 for f in factors if f < self.extent) or size == self.extent

    def larger(self, size: int, shapes: Mapping[str, Shape]) -> int:
        """The next valid size, about twice `size`."""
        return next(n for n in range(min(2 * size, self.extent), self.extent + 1) if self.valid(n, shapes))


def axes_of(case: Case, op: Op) -> tuple[Axis, ...]:
    """The axes of `case` that are longer than 1; empty where its operator declares none."""
    shapes = case.shapes
    if (
        op.ties is not None
        or op.settled is not None
        or op.drawn_from
        or any(isinstance(s, str) for _, s in case.tensors)
    ):
        return ()
    if any(0 in shape for shape in shapes.values()) or DTYPES[case.dtype].whole:  # drawn so that the whole fits
        return ()
    found = []
    for of in _declared(op, shapes, case):
        named = [(name, shape) for name, shape in shapes.items() if name in of and -of[name] <= len(shape)]
        extent = max((shape[of[name]] for name, shape in named), default=1)
        if extent > 1 and all(extent % shape[of[name]] == 0 for name, shape in named):
            found.append(Axis(extent, of))
    return tuple(found)


def _declared(op: Op, shapes: Mapping[str, Shape], case: Case) -> Sequence[Mapping[str, int]]:
    if op.independent is not None:
        return tuple(op.independent(shapes, **{**op.params, **case.kwargs}))
    if Trait.POINTWISE not in op.traits or len(set(shapes.values())) != 1:
        return ()
    tensors = (*shapes, *op.outputs)
    return [dict.fromkeys(tensors, -k) for k in range(len(next(iter(shapes.values()))), 0, -1)]
