"""Right for other inputs: one changed, two in each other's place, or slices of them left out of a sum."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.core.verdicts import Mode
from opproof.harness.diagnose.wrong import WrongTensor

#: So many explanations are named side by side; more are none.
_MAX_EXPLANATIONS = 2
#: Values that a tensor has at least, where it tells a function: of fewer, another function does the same.
MIN_DISTINCT_VALUES = 4

#: Elements of a call that is evaluated again for every change that there is.
_MAX_REEVALUATED_ELEMENTS = 2**14


@dataclass(frozen=True)
class TensorRef:
    kind: str  # "inputs" or "cotangents"
    which: int
    name: str


#: Of a tensor others to put in its place, and how the tensor that is right is said then.
IterOthers = Callable[[TensorRef, Array], Iterator[tuple[Array, str]]]


def find_changed_tensor(w: WrongTensor, others: IterOthers) -> str | None:
    """Right for one tensor changed, the first way that explains it; of two that explain as much both are named."""
    explanations: list[str] = []
    for place, v in iter_tensors(w) if is_small(w) else ():
        said = next((said for other, said in others(place, v) if w.explained(**change_tensor(w, place, other))), None)
        if said is not None:
            explanations.append(said)
    return (
        f"{w.what} is right for {', or for '.join(explanations)}"
        if 0 < len(explanations) <= _MAX_EXPLANATIONS
        else None
    )


def iter_tensors(w: WrongTensor) -> Iterator[tuple[TensorRef, Array]]:
    """Every input that is there, and every cotangent."""
    for i, (name, v) in enumerate(zip(w.names, w.inputs, strict=True)):
        if v is not None:
            yield TensorRef("inputs", i, str(name)), v
    for i, g in enumerate(w.cotangents):
        if g is not None:
            yield TensorRef("cotangents", i, "the cotangent"), g


def is_small(w: WrongTensor) -> bool:
    """Whether the call is so small that it can be evaluated a hundred times."""
    return w.got.size + sum(v.size for _, v in iter_tensors(w)) <= _MAX_REEVALUATED_ELEMENTS


def change_tensor(w: WrongTensor, place: TensorRef, other: Array | None) -> dict[str, Any]:
    """The inputs, or the cotangents, with one of them changed; as `Wrong.again` takes them."""
    values: list[Array | None] = [*w.inputs] if place.kind == "inputs" else [*w.cotangents]
    values[place.which] = other
    return {place.kind: values}


def find_changed_values(w: WrongTensor) -> str | None:
    """One tensor with other values; of two tensors that explain as much both are named."""
    return find_changed_tensor(w, _iter_computable)


def _iter_computable(place: TensorRef, v: Array) -> Iterator[tuple[Array, str]]:
    for other, said in _iter_other_values(place.name, v, cotangent=place.kind == "cotangents"):
        if (np.isfinite(other) | ~np.isfinite(v)).all():
            yield other, f"{said} in place of {place.name}"


def _iter_other_values(name: str, v: Array, *, cotangent: bool) -> Iterator[tuple[Array, str]]:
    if v.dtype.kind in "iub":
        yield from _of_integers(name, v)
    elif np.unique(v).size < MIN_DISTINCT_VALUES:
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


@dataclass(frozen=True)
class Swap:
    """What stands for what, as it is said, and in the subjunctive where it is said as a reason."""

    said: str
    as_if: str = ""  # empty where only one of two is another's


def find_swapped_inputs(w: WrongTensor) -> str | None:
    return next((swap.said for swap in iter_swaps(w)), None)


def iter_swaps(w: WrongTensor) -> Iterator[Swap]:
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
                yield gradients if other in w.all_wrong else Swap(said)
            if other in w.all_wrong and w.explained(inputs=moved, which=other):
                yield both
        if w.explained(inputs=moved):
            yield both


def find_one_for_another(w: WrongTensor) -> str | None:
    """An input that is read in place of another one, which is not read at all."""
    present = [i for i, v in enumerate(w.inputs) if v is not None]
    for i, j in permutations(present, 2):
        v, other = w.inputs[i], w.inputs[j]
        if v is None or other is None or v.shape != other.shape or v.dtype.kind != other.dtype.kind:
            continue
        instead = functools.partial(_replace_input, i=i, j=j)
        if w.explained(inputs=instead(w)) and not w.is_refuted_by(instead):
            return f"the input {w.names[j]} is read in place of {w.names[i]} too"
    return None


def _replace_input(w: WrongTensor, i: int, j: int) -> list[Array | None]:
    """The inputs, the j-th in place of the i-th too."""
    return w.with_input(i, w.inputs[j])


def find_left_out_of_all(w: WrongTensor) -> str | None:
    """Right without the last, or the first, of what lies along an axis: cut off from all inputs that have it."""
    if w.mode is not Mode.FORWARD or not w.got[w.numbers].any() or not is_small(w):
        return None
    for axes in _iter_shared_axes(w):
        size = next(v.shape[a] for a, v in zip(axes, w.inputs, strict=True) if a is not None and v is not None)
        for dropped, width in _iter_ends(size):
            kept = np.delete(np.arange(size), dropped)
            inputs = [v if v is None or a is None else v.take(kept, a) for v, a in zip(w.inputs, axes, strict=True)]
            y = w.again(inputs=inputs)
            if y is not None and w.fits(y):
                one, along = (
                    "the last element" if dropped.start else "the first element",
                    " and ".join(_name_axes(w, axes)),
                )
                what = one if width is None else f"the elements past {dropped.start} (the last multiple of {width})"
                return f"{what} along {along} {'does' if width is None else 'do'} not enter {w.what}"
    return None


def find_left_out_of_one(w: WrongTensor) -> str | None:
    """The first or last slices of an input (or the cotangent) do not enter a sum."""
    if not w.got[w.numbers].any():
        return None  # zeros are a region's, not a sum's
    for place, v in iter_tensors(w):
        for axis in range(v.ndim) if v.dtype.kind == "f" else ():
            for dropped, width in _iter_ends(v.shape[axis]):
                for neutral in (0.0, -np.inf):
                    other = v.copy()
                    np.moveaxis(other, axis, 0)[dropped] = neutral
                    if w.explained(**change_tensor(w, place, other)):
                        one = "the last slice" if dropped.start else "the first slice"
                        what = one if width is None else f"the last {dropped.stop - dropped.start} slices"
                        does = "does" if width is None else "do"
                        return f"{what} along axis {axis} of {place.name} {does} not enter {w.what}"
    return None


def _name_axes(w: WrongTensor, axes: tuple[int | None, ...]) -> Iterator[str]:
    for name, v, axis in zip(w.names, w.inputs, axes, strict=True):
        if v is not None and axis is not None:
            yield f"axis {axis + v.ndim} of {name}"


def _iter_shared_axes(w: WrongTensor) -> Iterator[tuple[int | None, ...]]:
    """Of every input the axis of one size, counted from the last, where at least two have it; the last one of two."""
    for size in sorted({n for v in w.inputs if v is not None for n in v.shape if n > 1}):
        for at in (0, -1):
            axes = tuple(_find_axis(v, size, at) for v in w.inputs)
            first = next((i for i, a in enumerate(axes) if a is not None), 0)
            for chosen in (axes, (*axes[:first], None, *axes[first + 1 :])):  # a query may be as long as keys are
                if sum(a is not None for a in chosen) > 1:
                    yield chosen


def _find_axis(v: Array | None, size: int, at: int) -> int | None:
    axes = [a - v.ndim for a, n in enumerate(v.shape) if n == size] if v is not None else []
    return axes[at] if axes else None


def _iter_ends(n: int) -> Iterator[tuple[slice, int | None]]:
    """Slices that loops forget: the last, the first, and those past the last multiple of a vector width, and which."""
    if n < 2:
        return
    yield slice(n - 1, n), None
    yield slice(0, 1), None
    for width in (64, 32, 16, 8, 4):
        if 1 < n % width < n:
            yield slice(n - n % width, n), width
