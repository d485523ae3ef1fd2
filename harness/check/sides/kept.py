"""What a caller of a kernel holds from call to call, by which a kernel that keeps what is not its own is found out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from opproof.harness.check.tensors import as_array
from opproof.vocabulary.arrays import Array

#: Outputs of so many calls are held, unless they have more numbers together: then those of the last.
CALLS, _NUMBERS = 8, 1 << 17


@dataclass
class Kept:
    """The memory of its inputs, which it fills anew, and the outputs of the last calls."""

    inputs: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    outputs: list[list[tuple[int, Any, Array]]] = field(default_factory=list)

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
        found = next((i for call in self.outputs for i, y, held in call if not _holds(y, held)), -1)
        places = {t.untyped_storage().data_ptr() for t in inputs}
        some = [(i, y) for i, y in enumerate(results) if y is not None and y.layout == inputs[0].layout]
        own = [(i, y.detach()) for i, y in some if y.untyped_storage().data_ptr() not in places]
        self.outputs = [*([] if found >= 0 else self.outputs[1 - CALLS :]), [(i, y, as_array(y)[0]) for i, y in own]]
        while len(self.outputs) > 1 and sum(v.size for call in self.outputs for _, _, v in call) > _NUMBERS:
            del self.outputs[0]
        return found


def _same(a: Any, b: Any) -> bool:
    """Whether two tensors hold the same numbers, zeros of the same sign too: what is written in place may be -0."""
    if not a.equal(b):
        return False
    return not a.is_floating_point() or bool(a.float().signbit().equal(b.float().signbit()))


def _holds(output: Any, held: Array) -> bool:
    return np.array_equal(as_array(output)[0], held, equal_nan=held.dtype.kind == "f")
