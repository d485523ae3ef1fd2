"""Mutants of the reference backend: each is the honest backend with one defect of a kind that real libraries had.

A mutant is a function from a `ReferenceCall` to the results that the defective backend gives. Families of mutants are
functions `..._mutants` in the files of this folder; each takes a `Profile`, which says what an operator's cases hold in
one mode, and yields those of its mutants that make sense there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.backends.numpy import Store, compute_gradients, compute_values, store_nearest
from opproof.cases import Case
from opproof.core.arrays import Array
from opproof.reference_ops import Op


@dataclass(frozen=True)
class Mutant:
    """A defect. `must_show`: where no case shows it, a case is missing; else it is no defect of this operator."""

    name: str
    results: Callable[[ReferenceCall], Arrays]
    must_show: bool = True


@dataclass(frozen=True)
class Profile:
    """What the cases of one operator and one dtype hold in one mode."""

    op: Op
    mode: str
    dtype: str
    cases: tuple[Case, ...]
    inputs: tuple[str, ...]  # names of arguments; of a variadic operator the first case's
    floats: frozenset[int]  # arguments that are float tensors
    graded: frozenset[int]  # arguments with a gradient
    read: frozenset[int]  # arguments whose values the results depend on
    results: int  # how many outputs, or gradients, there are at most
    discrete: bool  # some result is integers or truth values
    moving: bool  # some result is a float other than zero
    rank: int  # the most axes that a result has
    cotangent_rank: int  # the most axes that an output has

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Pairs of float arguments that have the same shape in some case."""
        found = {
            (i, j)
            for case in self.cases
            for i in self.floats
            for j in self.floats
            if i < j and self._shape(case, i) is not None and self._shape(case, i) == self._shape(case, j)
        }
        yield from sorted(found)

    def _shape(self, case: Case, i: int) -> Any:
        return case.shapes.get(self.inputs[i])


def can_hide(name: str, results: Callable[[ReferenceCall], Arrays]) -> Mutant:
    """A defect that is none of an operator of which no case shows it."""
    return Mutant(name, results, must_show=False)


def of_results(name: str, change: Change, *, must_show: bool = True) -> Mutant:
    """A mutant that changes every float result."""
    return Mutant(name, lambda call: on_floats(change, call.right), must_show)


@dataclass(frozen=True)
class ReferenceCall:
    """One call of a backend, and what the honest one answers."""

    op: Op
    dtype: str
    inputs: Sequence[Array | None]  # as they lie in memory
    params: Mapping[str, Any]
    cotangents: Sequence[Array | None] | None  # None in forward mode, and for an output not of floats
    needs: Sequence[bool]
    stored: Mapping[int, NDArray[np.uint8]] = field(default_factory=dict)  # whole storage, by id of the array in it
    kept: dict[Any, Any] = field(default_factory=dict)  # what the mutant remembers from call to call
    answer: Callable[[], Arrays] | None = None  # the honest answer, where it is known already
    unrounded: Callable[[], Arrays] | None = None  # the honest answer before it was stored, where it is known already
    before: Callable[[], Arrays] | None = None  # the honest answer to the call before, which had other data
    store: Store = store_nearest

    @property
    def right(self) -> Arrays:
        """The honest answer."""
        return self.again() if self.answer is None else self.answer()

    @property
    def exact(self) -> Arrays:
        """The honest answer before it is stored in the dtype: in float32, of f16 and bf16 too."""
        return self.again(store=to_unrounded) if self.unrounded is None else self.unrounded()

    def again(self, **changes: Any) -> Arrays:
        """The honest answer to the call with `changes`."""
        c = replace(self, **changes)
        if c.cotangents is None:
            return list(compute_values(c.op, c.inputs, c.params, c.store))
        return compute_gradients(c.op, c.inputs, c.params, c.cotangents, c.needs, c.store)


def to_unrounded(y: Any, dtype: np.dtype[Any]) -> Array:  # noqa: ARG001
    """A result as it was computed."""
    return np.asarray(y)


def evaluate_as(wrapped: Callable[[Any], Any]) -> Callable[[ReferenceCall], Arrays]:
    """The reference evaluated on tensors of another class: `wrapped` of each, plain arrays again in the end."""

    def results(call: ReferenceCall) -> Arrays:
        op = call.op

        def forward(*tensors: Any, **params: Any) -> Any:
            return map_nested(_to_plain, op.forward(*map_nested(wrapped, tensors), **params))

        def vjp(g: Any, y: Any, *tensors: Any, **params: Any) -> Any:
            assert op.vjp is not None
            given = map_nested(wrapped, (g, y, *tensors))
            return map_nested(_to_plain, op.vjp(*given, **params))

        return call.again(op=replace(op, forward=forward, vjp=None if op.vjp is None else vjp))

    return results


def _to_plain(y: Any) -> Any:
    return np.asarray(y) if isinstance(y, np.ndarray) else y


Arrays = list[Array | None]
#: What a mutant does with an array: a result, an input, a cotangent, a draw.
Change = Callable[[Array], Array]


#: Floats that NumPy has not.
_FOREIGN = ("bfloat16", "float8_e4m3fn", "float8_e5m2")


def is_float(x: Array | None) -> bool:
    """Whether `x` is a float array, bfloat16 and floats of 8 bits included."""
    return x is not None and (x.dtype.kind == "f" or x.dtype.name in _FOREIGN)


def is_number(x: Array | None) -> bool:
    """Whether `x` holds floats, or integers that may be data: places are int64."""
    return x is not None and (is_float(x) or (x.dtype.kind in "iu" and x.dtype.itemsize < 8))


def on_all(change: Change, arrays: Sequence[Array | None]) -> Arrays:
    """Every non-empty array changed, integers and truth values too."""
    return [
        change(y.copy(order="C")) if y is not None and y.size and not is_float(y) else apply_change(y, change)
        for y in arrays
    ]


def on_floats(change: Change, arrays: Sequence[Array | None]) -> Arrays:
    """Every non-empty float array changed, in float64, and stored in its own dtype; all others as they are."""
    return [apply_change(y, change) if is_float(y) else y for y in arrays]


def apply_change(y: Array | None, change: Change) -> Array | None:
    """`change` of a float64 copy of `y`, stored in the dtype of `y`."""
    if y is None or not y.size:
        return y
    with np.errstate(all="ignore"):
        wide = y.astype(np.float64, order="C")
        return change(wide).astype(y.dtype, order="C")


def clear_tail(width: int) -> Change:
    """Zeros in the inner axis past the last multiple of `width`, where it is longer than that."""

    def change(y: Array) -> Array:
        n = y.shape[-1] if y.ndim else 0
        if n > width:
            y[..., n - n % width :] = 0
        return y

    return change


def are_same_arrays(a: Sequence[Array | None], b: Sequence[Array | None]) -> bool:
    """Whether two lists of arrays are the same bit for bit, but for what stands in a NaN."""
    return len(a) == len(b) and all(
        (x is None and y is None)
        or (x is not None and y is not None and (x.shape, x.dtype) == (y.shape, y.dtype) and _bits_of(x) == _bits_of(y))
        for x, y in zip(a, b, strict=True)
    )


def _bits_of(x: Array) -> bytes:
    if is_float(x):
        x = np.where(np.isnan(x), x.dtype.type(np.nan), x)
    return np.ascontiguousarray(x).tobytes()


def map_nested(change: Callable[[Any], Any], values: Any) -> Any:
    """`change` of everything in nested tuples and lists."""
    if isinstance(values, tuple | list):
        return type(values)(map_nested(change, v) for v in values)
    return change(values)
