"""Right for another call: with another input or cotangent, without one, with slices left out, of another operator."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, round_to
from opproof.core.verdicts import Mode
from opproof.harness.diagnose.wrong import WrongTensor
from opproof.reference_ops import Op, change_calls, load, names, operators_of


def find_ignored_cotangent(w: WrongTensor) -> str | None:
    if w.mode == "gradient" and w.explained(cotangents=[None if g is None else np.ones_like(g) for g in w.cotangents]):
        return f"the cotangent is ignored: {w.what} is that of a cotangent of ones"
    given = [i for i, g in enumerate(w.cotangents) if g is not None]
    if w.mode != "gradient" or len(given) < 2:
        return None
    for i in given:
        left = [np.zeros_like(g) if g is not None and i == j else g for j, g in enumerate(w.cotangents)]
        if w.explained(cotangents=left):
            return f"the cotangent of {w.op.outputs[i]} is ignored: {w.what} is that of zeros there"
    return None


def find_rows_left(w: WrongTensor) -> str | None:
    """Nothing is wrong but where no gradient comes in, and none is expected."""
    g = w.cotangents[0] if len(w.cotangents) == 1 else None
    if w.mode != "gradient" or g is None or g.shape != w.got.shape or not g.ndim:
        return None
    empty = np.broadcast_to((g == 0).all(-1, keepdims=True) if g.ndim > 1 else g == 0, g.shape)
    if not empty.any() or empty.all() or (w.failing & ~empty).any() or w.expected[empty].any():
        return None
    rows = "rows" if g.ndim > 1 else "elements"
    return f"only {rows} whose cotangent is 0 are wrong: a backward that skips them has to set {w.what} to 0 there"


def find_unsummed(w: WrongTensor) -> str | None:
    """Of a gradient that is a sum over axes of the cotangent, the first or last slice only."""
    g = w.cotangents[0] if len(w.cotangents) == 1 else None
    if g is None or w.got.size >= g.size:
        return None
    axes = [a for a in range(g.ndim) if g.shape[a] > 1]
    for count in range(len(axes), 0, -1):
        for chosen in combinations(axes, count):
            for end, word in ((0, "first"), (-1, "last")):
                if w.explained(cotangents=[_keep_end(g, chosen, end)]):
                    over = f"ax{'es' if count > 1 else 'is'} {', '.join(map(str, chosen))}"
                    return f"{w.what} is not summed over {over} of the cotangent: it holds the {word} slice alone"
    return None


def _keep_end(g: Array, axes: Sequence[int], end: int) -> Array:
    index = tuple(slice(end, None if end == -1 else end + 1) if a in axes else slice(None) for a in range(g.ndim))
    kept = np.zeros_like(g)
    kept[index] = g[index]
    return kept


def find_ignored_input(w: WrongTensor) -> str | None:
    """An input that is not read, whatever the call: nothing that is right, here or in another call, depends on it."""
    for i, value in _iter_unread(w):
        without = functools.partial(_replace_input, i=i, value=value)
        if w.explained(inputs=without(w)) and not w.is_refuted_by(without):
            said = f"the input {w.names[i]} is ignored" + " in the gradient" * (w.mode is Mode.GRADIENT)
            return said if value is None else f"{said}: it counts as {value:g}"
    return None


def find_input_ignored_here(w: WrongTensor) -> str | None:
    """As if an input were not read that something right depends on: in this call alone, or by chance."""
    for i, value in _iter_unread(w):
        if w.explained(inputs=_replace_input(w, i, value)):
            of = f"without {w.names[i]}" if value is None else f"of {w.names[i]} = {value:g}"
            return f"{w.what} is here that {of}, though {w.names[i]} is not ignored everywhere"
    return None


def find_derivative_elsewhere(w: WrongTensor) -> str | None:
    """A gradient at the output in place of the input, or of the input as if it were the output."""
    if w.mode is not Mode.GRADIENT or not w.numbers.any():
        return None
    for i, v in enumerate(w.inputs):
        if v is None or not (v.dtype.kind == "f" or _of_truths(v)):
            continue
        name, outputs = w.names[i], w.op.forward(*w.inputs, **w.params)
        if isinstance(outputs, np.ndarray):
            y = round_to(outputs, DTYPES[w.case.dtype])
            if y.shape == v.shape and w.explained(inputs=w.with_input(i, y)):
                return f"the derivative is taken at the output instead of at {name}"
        y = w.posed.outputs[0]
        if len(w.posed.outputs) == 1 and y.shape == v.shape and w.explained(outputs=[v]):
            return f"the derivative is taken of {name} as if it were the output"
    return None


def _iter_unread(w: WrongTensor) -> Iterator[tuple[int, float | None]]:
    """Of every input what it may count as where it is not read; None: it is not there."""
    several = sum(v is not None for v in w.inputs) > 1
    for i, v in enumerate(w.inputs) if w.numbers.any() else ():
        if v is not None and (v.dtype.kind == "f" or _of_truths(v)):
            optional = w.names[i] in w.op.optional
            yield from ((i, value) for value in ((None, 0.0, 1.0) if optional else (0.0, 1.0) if several else ()))


def _replace_input(w: WrongTensor, i: int, value: float | None) -> list[Array | None]:
    v = w.inputs[i]
    return w.with_input(i, None if v is None or value is None else np.full_like(v, value))


def _of_truths(v: Array) -> bool:
    return bool(v.dtype.kind in "iub" and v.size and v.min() >= 0 and v.max() <= 1)


def find_left_out_call(w: WrongTensor) -> str | None:
    """A graph without the calls of one operator: what such a call takes first goes on in its place."""
    for name in sorted(operators_of(w.op.name)) if w.op.expression else ():
        skipped = replace(load(name), forward=lambda x, *_, **__: x, vjp=lambda *given, **_: given[0])
        with contextlib.suppress(ValueError, TypeError):  # of shapes that the next call does not take
            if w.explained(op=change_calls(w.op, {name: skipped})):
                return f"{w.what} is that of the graph without {name}"
    return None


def find_other_operator(w: WrongTensor) -> str | None:
    """An operator with the same tensors gives exactly this; with the same parameters, or some of them and defaults.

    Of a small call: two hundred operators are tried, and tensors that are large are larger yet where they broadcast.
    """
    for op in _find_alike(w.op) if is_small(w) else ():
        params = {name: w.params.get(name, default) for name, default in op.params.items()}
        if w.explained(op=op) if _keys_of(op) == _keys_of(w.op) else w.explained(op=op, params=params):
            return f"{w.what} is that of {op.name}, not of {w.op.name}"
    return None


def _find_alike(op: Op) -> list[Op]:
    """Those of the same parameters first; truth values and bits, without a gradient, are not of a formula with one."""
    alike = [o for o in _load_all() if len(o.tensors) == len(op.tensors) and (o.vjp is None) == (op.vjp is None)]
    others = [o for o in alike if o.name != op.name and o.variadic == op.variadic and _has_all_parameters(o, op)]
    return sorted(others, key=lambda o: _keys_of(o) != _keys_of(op))


def _has_all_parameters(other: Op, op: Op) -> bool:
    """Whether every parameter of the other operator has a value here, or a default."""
    return all(n in op.params or v is not inspect.Parameter.empty for n, v in other.params.items())


@functools.cache
def _load_all() -> tuple[Op, ...]:
    return tuple(load(name) for name in names())


def _keys_of(op: Op) -> tuple[Any, ...]:
    return tuple(sorted(n for n, v in op.params.items())), op.variadic


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
        instead = functools.partial(_exchange_input, i=i, j=j)
        if w.explained(inputs=instead(w)) and not w.is_refuted_by(instead):
            return f"the input {w.names[j]} is read in place of {w.names[i]} too"
    return None


def _exchange_input(w: WrongTensor, i: int, j: int) -> list[Array | None]:
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
            axes = tuple(_find_axis_of_size(v, size, at) for v in w.inputs)
            first = next((i for i, a in enumerate(axes) if a is not None), 0)
            for chosen in (axes, (*axes[:first], None, *axes[first + 1 :])):  # a query may be as long as keys are
                if sum(a is not None for a in chosen) > 1:
                    yield chosen


def _find_axis_of_size(v: Array | None, size: int, at: int) -> int | None:
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
