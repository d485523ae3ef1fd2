"""What a caller of a kernel holds from call to call, by which a kernel that keeps what is not its own is found out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from opproof.harness.check.tensors import as_array

#: Outputs of so many calls are held, unless they have more numbers together: then those of the last.
CALLS, _NUMBERS = 8, 1 << 17
#: Those of every 16th call are held for so many of these, and looked at as seldom: a ring of buffers may have hundreds.
_SELDOM, _LONG = 16, 36


class Output(NamedTuple):
    """One result of a call: its place among the results, the tensor itself, and a copy of what that held."""

    place: int
    tensor: Any
    held: Any


@dataclass
class Kept:
    """The memory of its inputs, which it fills anew, and the outputs of the last calls."""

    inputs: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    outputs: list[list[Output]] = field(default_factory=list)
    older: list[list[Output]] = field(default_factory=list)
    calls: int = 0

    def taken(self, place: int, made: Any, *, unseen: bool = False) -> Any:
        """The tensor that was at this place in the call before, filled with `made`, where that fits; else `made`.

        An optimiser fills weights so: who keeps results by the tensor, and not by its version, keeps old ones.
        `unseen`: through `.data`, as many do, which leaves the version as it was.
        """
        key = (place, made.dtype, tuple(made.shape), made.stride(), made.storage_offset())
        own = self.inputs.get(key)
        if own is None or 0 in made.stride():
            self.inputs = {k: v for k, v in self.inputs.items() if k[0] != place} | {key: made}
            return made
        if not own.is_leaf:  # the call before updated it in place
            own = self.inputs[key] = own.detach()
        own.requires_grad_(False)
        if own.is_meta or not _same(own, made):  # a version stays where values do
            (own.data if unseen else own).copy_(made)
        return own

    def overwritten(self, results: Sequence[Any], inputs: Sequence[Any]) -> int:
        """The first result of a call before that no longer holds what it held, by its place; -1 for none.

        `results`, outputs and then gradients, None where there is none, are the last then.
        """
        self.calls += 1
        is_looked_back = self.calls % _SELDOM == 0
        found = _changed([*self.outputs, *(self.older if is_looked_back else [])])
        places = {t.untyped_storage().data_ptr() for t in inputs}
        some = [(i, y) for i, y in enumerate(results) if y is not None and y.layout == inputs[0].layout]
        own = [(i, y.detach()) for i, y in some if y.untyped_storage().data_ptr() not in places]
        self.outputs = [*([] if found >= 0 else self.outputs[1 - CALLS :]), [Output(i, y, y.clone()) for i, y in own]]
        while len(self.outputs) > 1 and _count(self.outputs) > _NUMBERS:
            del self.outputs[0]
        if is_looked_back and len(self.outputs[-1]) > 0:
            self.older = [*([] if found >= 0 else self.older[1 - _LONG :]), self.outputs[-1]]
            while _count(self.older) > _NUMBERS:
                del self.older[0]
        return found


def _changed(calls: Sequence[Sequence[Output]]) -> int:
    """The place of the first output that no longer holds what it held; -1 for none."""
    return next((one.place for call in calls for one in call if not _holds(one)), -1)


def _count(calls: Sequence[Sequence[Output]]) -> int:
    """How many numbers these calls gave."""
    return sum(one.held.numel() for call in calls for one in call)


def _same(a: Any, b: Any) -> bool:
    """Whether two tensors hold the same numbers, zeros of the same sign too: what is written in place may be -0."""
    if not a.equal(b):
        return False
    return not a.is_floating_point() or bool(a.float().signbit().equal(b.float().signbit()))


def _holds(output: Output) -> bool:
    """Whether the tensor's numbers are those of the copy; what is no number is so too."""
    if output.held.element_size() > 1 and output.tensor.equal(output.held):  # not of every dtype of 8 bits
        return True
    now, then = as_array(output.tensor)[0], as_array(output.held)[0]
    return np.array_equal(now, then, equal_nan=then.dtype.kind == "f")
