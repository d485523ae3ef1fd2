"""Right for an input that was read otherwise: transposed, reversed, a place early or late, its first slice for all."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from opproof.core.arrays import Array
from opproof.harness.diagnose.tensors import Place, right_for
from opproof.harness.diagnose.wrong import Wrong


def moved(w: Wrong) -> str | None:
    """The elements of one input, or of the cotangent, in other places; of two that explain as much both are named."""
    return right_for(w, _elsewhere)


def direction(w: Wrong) -> str | None:
    """A sum that runs along an axis, from the other end: right once all that has the axis is turned round."""
    for axis, n in enumerate(w.got.shape):
        if n < 3:
            continue
        inputs = [_turned(v, axis, n) for v in w.inputs]
        y = w.again(inputs=inputs, cotangents=[_turned(g, axis, n) for g in w.cotangents])
        if y is not None and w.fits(np.flip(y, axis)):
            return f"{w.what} is computed along axis {axis} from the other end"
    return None


def _turned(v: Array | None, axis: int, n: int) -> Array | None:
    return np.flip(v, axis) if v is not None and v.ndim > axis and v.shape[axis] == n else v


def _elsewhere(place: Place, v: Array) -> Iterator[tuple[Array, str]]:
    for other, said in _moves(v):
        if not np.array_equal(other, v, equal_nan=v.dtype.kind == "f"):
            yield other, f"{place.name} {said}"


def _moves(v: Array) -> Iterator[tuple[Array, str]]:
    """The tensor with its elements elsewhere, and how that is said; what is likelier first."""
    for i, j in combinations(range(v.ndim), 2):
        swapped = np.swapaxes(v, i, j)
        how = f"transposed: its axes {i} and {j} are swapped"
        if swapped.shape == v.shape:
            yield swapped, how
        elif min(v.shape[i], v.shape[j]) > 1:
            yield swapped.reshape(v.shape), f"read as if its axes {i} and {j} were stored swapped"
            back = (*v.shape[:i], v.shape[j], *v.shape[i + 1 : j], v.shape[i], *v.shape[j + 1 :])
            yield np.swapaxes(v.reshape(back), i, j), f"read as if it were stored with its axes {i} and {j} swapped"
    last = tuple(a for a in range(2, v.ndim) if v.shape[a] > 1)
    if len(last) > 1:
        yield np.flip(v, last), f"reversed along axes {', '.join(map(str, last))}"
    for axis, n in enumerate(v.shape):
        if n < 2:
            continue
        yield np.flip(v, axis), f"reversed along axis {axis}"
        if n > 2:
            yield np.roll(v, 1, axis), f"read one place early along axis {axis}"
            yield np.roll(v, -1, axis), f"read one place late along axis {axis}"
        yield np.broadcast_to(v.take([0], axis), v.shape), f"read at index 0 of axis {axis} everywhere"
