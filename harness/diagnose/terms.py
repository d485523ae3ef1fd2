"""Terms left out of a sum along an axis that several inputs have: keys and values of attention, k of a product."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from opproof.harness.diagnose.tensors import few
from opproof.harness.diagnose.wrong import Wrong
from opproof.vocabulary.arrays import Array
from opproof.vocabulary.modes import Mode


def left_out(w: Wrong) -> str | None:
    """Right without the last, or the first, of what lies along an axis: cut off from all inputs that have it."""
    if w.mode is not Mode.FORWARD or not w.got[w.numbers].any() or not few(w):
        return None
    for axes in _shared(w):
        size = next(v.shape[a] for a, v in zip(axes, w.inputs, strict=True) if a is not None and v is not None)
        for kept, cut in _ends(size):
            inputs = [v if v is None or a is None else v.take(kept, a) for v, a in zip(w.inputs, axes, strict=True)]
            y = w.again(inputs=inputs)
            if y is not None and w.fits(y):
                return f"{cut.format(' and '.join(_named(w, axes)))} not enter {w.what}"
    return None


def _named(w: Wrong, axes: tuple[int | None, ...]) -> Iterator[str]:
    for name, v, axis in zip(w.names, w.inputs, axes, strict=True):
        if v is not None and axis is not None:
            yield f"axis {axis + v.ndim} of {name}"


def _shared(w: Wrong) -> Iterator[tuple[int | None, ...]]:
    """Of every input the axis of one size, counted from the last, where at least two have it; the last one of two."""
    for size in sorted({n for v in w.inputs if v is not None for n in v.shape if n > 1}):
        for at in (0, -1):
            axes = tuple(_axis(v, size, at) for v in w.inputs)
            first = next((i for i, a in enumerate(axes) if a is not None), 0)
            for chosen in (axes, (*axes[:first], None, *axes[first + 1 :])):  # a query may be as long as keys are
                if sum(a is not None for a in chosen) > 1:
                    yield chosen


def _axis(v: Array | None, size: int, at: int) -> int | None:
    axes = [a - v.ndim for a, n in enumerate(v.shape) if n == size] if v is not None else []
    return axes[at] if axes else None


def _ends(n: int) -> Iterator[tuple[Array, str]]:
    """What is left without the last or the first element, or those past the last multiple of a vector width.

    And what is missing then, along axes that are to be put in.
    """
    index = np.arange(n)
    yield index[:-1], "the last element along {} does"
    yield index[1:], "the first element along {} does"
    for width in (64, 32, 16, 8, 4):
        if 1 < n % width < n:
            end = n - n % width
            yield index[:end], f"the elements past {end} (the last multiple of {width}) along {{}} do"
