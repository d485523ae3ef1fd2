"""Terms left out of a sum: slices of one input, or of all that have an axis, as keys and values of attention."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from opproof.core.arrays import Array
from opproof.core.verdicts import Mode
from opproof.harness.diagnose.tensors import changed, few, tensors
from opproof.harness.diagnose.wrong import Wrong


def left_out_of_all(w: Wrong) -> str | None:
    """Right without the last, or the first, of what lies along an axis: cut off from all inputs that have it."""
    if w.mode is not Mode.FORWARD or not w.got[w.numbers].any() or not few(w):
        return None
    for axes in _shared(w):
        size = next(v.shape[a] for a, v in zip(axes, w.inputs, strict=True) if a is not None and v is not None)
        for dropped, width in _ends(size):
            kept = np.delete(np.arange(size), dropped)
            inputs = [v if v is None or a is None else v.take(kept, a) for v, a in zip(w.inputs, axes, strict=True)]
            y = w.again(inputs=inputs)
            if y is not None and w.fits(y):
                one, along = "the last element" if dropped.start else "the first element", " and ".join(_named(w, axes))
                what = one if width is None else f"the elements past {dropped.start} (the last multiple of {width})"
                return f"{what} along {along} {'does' if width is None else 'do'} not enter {w.what}"
    return None


def left_out_of_one(w: Wrong) -> str | None:
    """The first or last slices of an input (or the cotangent) do not enter a sum."""
    if not w.got[w.numbers].any():
        return None  # zeros are a region's, not a sum's
    for place, v in tensors(w):
        for axis in range(v.ndim) if v.dtype.kind == "f" else ():
            for dropped, width in _ends(v.shape[axis]):
                for neutral in (0.0, -np.inf):
                    other = v.copy()
                    np.moveaxis(other, axis, 0)[dropped] = neutral
                    if w.explained(**changed(w, place, other)):
                        one = "the last slice" if dropped.start else "the first slice"
                        what = one if width is None else f"the last {dropped.stop - dropped.start} slices"
                        does = "does" if width is None else "do"
                        return f"{what} along axis {axis} of {place.name} {does} not enter {w.what}"
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


def _ends(n: int) -> Iterator[tuple[slice, int | None]]:
    """Slices that loops forget: the last, the first, and those past the last multiple of a vector width, and which."""
    if n < 2:
        return
    yield slice(n - 1, n), None
    yield slice(0, 1), None
    for width in (64, 32, 16, 8, 4):
        if 1 < n % width < n:
            yield slice(n - n % width, n), width
