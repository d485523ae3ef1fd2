"""Right for two inputs in each other's place: in values, in gradients, or one of them in the place of both."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, permutations

from opproof.core.arrays import Array
from opproof.harness.diagnose.wrong import Wrong


@dataclass(frozen=True)
class Swap:
    """What stands for what, as it is said, and in the subjunctive where it is said as a reason."""

    said: str
    as_if: str = ""  # empty where only one of two is another's


def swapped_inputs(w: Wrong) -> str | None:
    return next((swap.said for swap in swaps(w)), None)


def swaps(w: Wrong) -> Iterator[Swap]:
    """Two inputs for each other, or their gradients, or both: what comes of a kernel that takes them the other way."""
    present = [i for i, v in enumerate(w.inputs) if v is not None]
    alone = {i for i, v in enumerate(w.inputs) if v is not None and v.size == 1}
    for i, j in combinations(present, 2):
        if (i in alone) != (j in alone):  # a number for an array is no swap
            continue
        moved = list(w.inputs)
        moved[i], moved[j] = w.inputs[j], w.inputs[i]
        inputs = f"the inputs {w.names[i]} and {w.names[j]}"
        both = Swap(f"{inputs} are swapped", f"{inputs} were swapped")
        if w.mode == "gradient" and w.which in (i, j):
            other = j if w.which == i else i
            if w.explained(which=other):
                said = f"{w.what} is that of {w.names[other]}"
                gradients = Swap(f"{said}: the gradients are swapped", "the gradients were swapped")
                yield gradients if other in w.beside else Swap(said)
            if other in w.beside and w.explained(inputs=moved, which=other):
                yield both
        if w.explained(inputs=moved):
            yield both


def one_for_another(w: Wrong) -> str | None:
    """An input that is read in place of another one, which is not read at all."""
    present = [i for i, v in enumerate(w.inputs) if v is not None]
    for i, j in permutations(present, 2):
        v, other = w.inputs[i], w.inputs[j]
        if v is None or other is None or v.shape != other.shape or v.dtype.kind != other.dtype.kind:
            continue
        instead = functools.partial(_instead, i=i, j=j)
        if w.explained(inputs=instead(w)) and not w.refuted(instead):
            return f"the input {w.names[j]} is read in place of {w.names[i]} too"
    return None


def _instead(w: Wrong, i: int, j: int) -> list[Array | None]:
    """The inputs, the j-th in place of the i-th too."""
    return w.inputs_with(i, w.inputs[j])
