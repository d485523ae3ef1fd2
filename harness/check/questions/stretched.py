"""Whether a reference means something else at other sizes: operands that are stretched there, and are not as given.

A slice of two places that is assigned two rows takes one row for both, once 2 has become 1; a candidate that joins the
same parts does not, and neither is wrong. Such sizes say nothing of the candidate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from opproof.harness.check.sides.exchange import Request
from opproof.harness.check.sides.reference import Native
from opproof.harness.check.tensors import Tensor
from opproof.harness.reference.torch.intercept import intercepted
from opproof.harness.reference.torch.linear_algebra import SIZES, contracting


@dataclass(frozen=True)
class Step:
    """An operation by elements, or an expansion: the shapes of what it takes, and for an expansion of what it gives.

    Of a contraction the sizes that its operands have under one letter, or in one pair of axes, as shapes of one axis.
    """

    name: str
    shapes: tuple[tuple[int, ...], ...]

    def stretches(self) -> set[int]:
        """Axes, counted from the last, along which one has size 1 and another more; an expansion may add axes."""
        missing = 1 if self.name == _EXPAND else None
        columns = enumerate(zip_longest(*(reversed(s) for s in self.shapes), fillvalue=missing))
        return {axis for axis, sizes in columns if 1 in sizes and {*sizes} - {1, None}}


def steps(reference: Native, tensors: tuple[Tensor, ...], seed: int) -> list[Step]:
    """What the reference does by elements and contracts with `tensors`, in its order."""
    import torch

    done = []

    def kept(_: Any, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        y = func(*args, **kwargs)
        if not hasattr(func, "_schema"):
            return y
        name = func._schema.name  # noqa: SLF001 - it has no other name
        if name == _EXPAND:
            done.append(Step(name, (tuple(args[0].shape), tuple(y.shape))))
        elif name == _CAT:
            done.append(Step(name, tuple(tuple(v.shape) for v in args[0])))
        elif torch.Tag.pointwise in func.tags or name == "aten::copy_":
            done.append(Step(name, tuple(tuple(v.shape) for v in args if hasattr(v, "shape"))))
        return y

    def contracted(name: str, sizes: Sequence[Sequence[int]]) -> None:
        done.extend(Step(name, tuple((n,) for n in of)) for of in sizes)

    with intercepted(kept), contracting(contracted):
        reference.native(Request(tensors, seed=seed))
    return done


_EXPAND, _CAT = "aten::expand", "aten::cat"


def uneven(given: Sequence[Step], other: Sequence[Step]) -> bool:
    """Whether pieces are joined that are alike in `given` and not in `other`: 17 has no halves."""
    pairs = zip(*([s for s in some if s.name == _CAT] for some in (given, other)), strict=False)
    return any(len({*a.shapes}) == 1 and len(a.shapes) == len(b.shapes) and len({*b.shapes}) > 1 for a, b in pairs)


def stretched(given: Sequence[Step], other: Sequence[Step]) -> str:
    """The first operation that stretches an axis in `other` which it does not in `given`; empty where none does.

    Expansions are counted, since indexing has one only where it stretches. Other operations than before, as a loop over
    another size has them, are not compared.
    """
    counts = [sum(s.name == _EXPAND and bool(s.stretches()) for s in some) for some in (given, other)]
    if counts[1] > counts[0]:
        return _EXPAND
    for told in (False, True):  # a contraction has other operations within it where it stretches
        some, later = (
            [s for s in steps if (s.name in SIZES) is told and s.name not in (_EXPAND, _CAT)]
            for steps in (given, other)
        )
        pairs = list(zip(some, later, strict=False))
        alike = all(a.name == b.name for a, b in pairs)
        if found := next((b.name for a, b in pairs if alike and b.stretches() - a.stretches()), ""):
            return found
    return ""
