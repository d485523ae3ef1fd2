"""Sets of elements that might be the wrong ones, by a bound that the data tells: large arguments, an interval."""

from __future__ import annotations

from collections.abc import Iterator
from math import log2

import numpy as np

from opproof.core.arrays import Array
from opproof.harness.diagnose.places import along
from opproof.harness.diagnose.region import CHOSEN, Region, broadcasts
from opproof.harness.diagnose.regions import floats, spread
from opproof.harness.diagnose.wrong import Wrong


def _halves(w: Wrong) -> Iterator[Region]:
    """Where an input is negative, or positive."""
    for name, v in floats(w):
        for said, mask in ((f"where {name} < 0", v < 0), (f"where {name} > 0", v > 0)):
            yield from spread(w, "half", said, mask)


def thresholds(w: Wrong) -> Iterator[Region]:
    """Where an input, or the expected value, is large (or small) beyond a threshold taken from the data."""
    yield from _halves(w)
    arrays = floats(w)
    if w.expected.dtype.kind == "f":
        arrays.append(("the expected value", w.expected))
    for name, v in arrays:
        for said, key in ((f"|{name}| ≥", np.abs(v)), (f"{name} ≥", v), (f"{name} ≤", -v)):
            for over, axis in keys(w, np.where(np.isnan(key), -np.inf, key)):
                least = float(over[w.failing].min())
                number = -least if said.endswith("≤") else least
                slices = "elements" if axis is None else "rows"
                if np.isinf(number) and not w.failing[over >= least].all():
                    continue  # infinities of the other sign are right
                beyond = f"{said} {number:.4g}" if np.isfinite(number) else f"{name} is {_infinite(said, number)}"
                yield Region("large", f"the {slices} where {beyond}", over >= least, CHOSEN, axis)
    for name, v in floats(w):
        yield from _interval(w, name, v)
    for axis in range(w.got.ndim):
        index = along(w.got.shape, axis)
        first = int(index[w.failing].min()) if w.failing.any() else 0
        if first > 1:  # as of a window of three keys
            yield Region("beyond", f"the elements from {first} on along axis {axis}", index >= first, CHOSEN)


def _interval(w: Wrong, name: str, v: Array) -> Iterator[Region]:
    """From one number to another: as where a bound is a little off."""
    if not broadcasts(v.shape, w.got.shape):
        return
    key = np.broadcast_to(v, w.got.shape)
    least, most = (float(end) for end in (key[w.failing].min(), key[w.failing].max()))
    if np.isfinite(least) and np.isfinite(most) and least < most:
        said = f"the elements where {least:.4g} ≤ {name} ≤ {most:.4g}"
        yield Region("large", said, (key >= least) & (key <= most), 2 * log2(w.got.size))


def _infinite(said: str, number: float) -> str:
    return "infinite" if said.startswith("|") else str(number)


def keys(w: Wrong, key: Array) -> Iterator[tuple[Array, int | None]]:
    """`key` per element of the wrong tensor, or the largest of a slice along an axis."""
    shape = w.got.shape
    if broadcasts(key.shape, shape):
        yield np.broadcast_to(key, shape), None
    for axis in range(key.ndim):
        if key.shape[axis] == 0:
            continue
        kept = key.max(axis=axis, keepdims=True)
        if key.shape == shape:
            yield np.broadcast_to(kept, shape), axis
        elif kept.shape == shape or np.squeeze(kept, axis).shape == shape:
            yield kept.reshape(shape), None
