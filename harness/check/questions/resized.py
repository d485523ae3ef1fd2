"""Draws of a factory brought to another size: filled from two of them, with values of its kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.harness.check.questions.properties.held import varies
from opproof.harness.check.questions.sizes import Size
from opproof.harness.check.questions.structure import chosen
from opproof.harness.check.tensors import Tensor


def fits(draw: Sequence[Tensor], given: Sequence[Tensor], size: Size) -> bool:
    """Whether a draw, whose shapes may be others than the given ones, can be brought to a size.

    Not where one of its whole numbers, or of its labels, could then point past the end of an axis that has become
    shorter.
    """
    for (i, axis), new in size.new.items():
        t, like = draw[i], given[i]
        if t.values.ndim != like.values.ndim or not t.values.size:
            return False
        if new < t.shape[axis] and any(_may_point(one, t.shape[axis]) for one in draw):
            return False
        if size.shaped and t.shape != like.shape:
            return False
    return True


def _may_point(tensor: Tensor, size: int) -> bool:
    """Whether its numbers may be places of an axis, or its end, or it marks some of its own."""
    whole = tensor.values.dtype.kind in "iu"
    return (whole and bool(tensor.values.max(initial=0) <= size)) or chosen(tensor) is not None


def joined(draws: Sequence[Sequence[Tensor]], size: Size) -> tuple[Tensor, ...]:
    """The first of two draws that fit with other sizes, filled from the second; both again where they are too short."""
    made = []
    for i, (t, more) in enumerate(zip(*draws, strict=True)):
        values, other = t.values, chosen(t)
        for axis in range(len(t.shape)):
            if (new := size.new.get((i, axis))) is not None:
                both = np.concatenate([values, _widened(more.values, values, axis)], axis)
                old, values = values.shape[axis], both.take(_again(new, both.shape[axis]), axis)
                if other is not None and axis == len(t.shape) - 1:  # a class more has no member
                    values[..., old:] = other
                if varies(t) and new > both.shape[axis]:
                    values = values * _apart(new, both.shape[axis]).reshape([-1] + [1] * (values.ndim - axis - 1))
        made.append(t if values is t.values else t.holding(values))
    return tuple(made)


def _again(new: int, size: int) -> NDArray[np.intp]:
    """Places for `new` elements of `size`: all in order, and then again, begun one further on each time."""
    places = np.arange(new)
    return np.asarray((places + places // size) % size)


def _apart(new: int, size: int) -> NDArray[np.float64]:
    """Factors that keep what comes again from being equal to what was before: of equals any may be chosen."""
    return np.asarray(1 + np.arange(new) // size / 128)


def _widened(more: Any, like: Any, axis: int) -> Any:
    """`more` with the other axes of `like`, mirrored where they have grown, and begun elsewhere along each axis."""
    for other, n in enumerate(like.shape):
        if other != axis and more.shape[other] != n:
            size = more.shape[other]
            places = np.arange(n)
            more = more.take(np.where(places < size, places, 2 * size - 1 - places) % size, other)
    return np.roll(more, -axis, axis)
