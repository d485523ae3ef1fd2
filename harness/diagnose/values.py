"""Right for other values of an input: one more, its opposite, its square, less its mean; of the cotangent its mean."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from opproof.core.arrays import Array
from opproof.harness.diagnose.tensors import DISTINCT, Place, right_for
from opproof.harness.diagnose.wrong import Wrong


def changed_values(w: Wrong) -> str | None:
    """One tensor with other values; of two tensors that explain as much both are named."""
    return right_for(w, _computable)


def _computable(place: Place, v: Array) -> Iterator[tuple[Array, str]]:
    for other, said in _others(place.name, v, cotangent=place.kind == "cotangents"):
        if (np.isfinite(other) | ~np.isfinite(v)).all():
            yield other, f"{said} in place of {place.name}"


def _others(name: str, v: Array, *, cotangent: bool) -> Iterator[tuple[Array, str]]:
    if v.dtype.kind in "iub":
        yield from _of_integers(name, v)
    elif np.unique(v).size < DISTINCT:
        return
    elif cotangent:
        yield np.full_like(v, v.mean()), f"the mean of {name}"
        yield np.full_like(v, v.flat[0] if v.size else 0.0), f"the first element of {name}"
        yield np.abs(v), f"|{name}|"
    else:
        yield 2 * v, f"2 {name}"
        yield v / 2, f"{name} / 2"
        yield v * np.log(2), f"{name} × ln 2"
        yield v / np.log(2), f"{name} / ln 2"
        yield v + 1, f"1 + {name}"
        yield v - 1, f"{name} - 1"
        yield -v, f"-{name}"
        yield v * v, f"{name}²"
        yield np.sqrt(np.abs(v)), f"√{name}"
        yield 1 / v, f"1/{name}"
        yield np.exp(v), f"exp({name})"
        yield np.abs(v), f"|{name}|"
        for axis in range(v.ndim):
            if v.shape[axis] > 1:
                yield v - v.mean(axis, keepdims=True), f"{name} less its mean along axis {axis}"


def _of_integers(name: str, v: Array) -> Iterator[tuple[Array, str]]:
    """Truth values for their opposite; indices one place on, the last going round or staying where it is."""
    if v.size and v.min() >= 0 and v.max() <= 1:
        yield (1 - v).astype(v.dtype), f"the opposite of {name}"
    count = int(v.max(initial=0)) + 1
    for step, said in ((1, f"{name} + 1"), (-1, f"{name} - 1")):
        yield v + step, said
        yield (v + step) % count, said
        yield np.clip(v + step, 0, count - 1), said
