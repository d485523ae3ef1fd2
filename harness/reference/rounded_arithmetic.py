"""Arithmetic of a named format: the reference as a library computes it that rounds, and overflows, at every step.

A `RoundedArray` holds float64 numbers of a format; every operation is made in float64 and rounded to it, its range
included, and sums are made term after term. Of several evaluations the first rounds to nearest, the others by chance
and in other orders: what lies between them a library may give. Noise tells of roundings without end small, this of
large.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, Dtype, spacing_of
from opproof.harness.reference.montecarlo.array import DECIDED

#: Formats by name; tf32 has f16's digits and f32's range.
FORMATS: dict[str, Dtype] = {
    **{n: DTYPES[n] for n in ("f64", "f32", "f16", "bf16")},
    "tf32": Dtype("tf32", 11, -126, 127),
}
#: Lanes into which sums and products are dealt in turn, by evaluation: one accumulator, and as many as vectors and
#: their pairs have.
LANES = (1, 4, 8, 16, 32, 64, 128)
#: The same where digits are cut off: nothing is drawn there, and sums are made in Python.
LANES_OF_TRUNCATED = (8,)
#: Products of a contraction that are held at once, in numbers.
MAX_PRODUCTS_HELD = 2**24

#: Ufuncs whose result is one of their operands, or a number that needs no rounding.
_SELECTS = frozenset({np.maximum, np.minimum, np.fmax, np.fmin, np.negative, np.positive, np.absolute, np.copysign})


@dataclass(frozen=True)
class RoundedArithmetic:
    """Formats of operations and of sums, and how results are rounded.

    `lanes`: accumulators into which the terms of a sum, or the factors of a product, are dealt in turn. `chance`:
    rounds up or down by it, to nearest where there is none.
    """

    operations: Dtype
    sums: Dtype
    lanes: int = 1
    truncates: bool = False
    chance: np.random.Generator | None = None
    tiny: float = 0.0  # every result that is smaller is zero

    def rounded(self, values: Any) -> Array:
        """Float64 values as numbers of the format of operations."""
        return flush(self._to(np.asarray(values, dtype=np.float64), self.operations), self.tiny)

    def summed(self, values: Any) -> Array:
        """Float64 values as numbers of the format of sums, to nearest or truncated."""
        found = _to_format(np.asarray(values, dtype=np.float64), self.sums, _choose_rounding(self.truncates))
        return flush(found, self.tiny)

    def _to(self, values: Array, kind: Dtype) -> Array:
        if self.chance is None:
            return _to_format(values, kind, _choose_rounding(self.truncates))
        low, high = (_to_format(values, kind, mode) for mode in (np.floor, np.ceil))
        return np.where(self.chance.random(values.shape) < 0.5, low, high)


def flush(values: Array, tiny: float) -> Array:
    """With zeros of the numbers' own signs for those below `tiny`, as processors make them: 1 / -1e-39 is -inf."""
    if not tiny:
        return values
    with np.errstate(invalid="ignore"):
        return np.where(np.abs(values) < tiny, np.copysign(0.0, values), values)


def _choose_rounding(truncates: bool) -> Callable[[Array], Array]:
    return np.trunc if truncates else np.rint


def _to_format(values: Array, kind: Dtype, mode: Callable[[Array], Array]) -> Array:
    """`values` at the spacing of the format, by `mode` (rint, trunc, floor, ceil); infinite past its largest number."""
    if kind.name == "f64":
        return values
    with np.errstate(all="ignore"):
        spacing = spacing_of(values, kind)
        found = mode(values / spacing) * spacing
        found = np.where(np.isfinite(values), found, values)
        if mode is np.trunc:  # as those who cut digits off do: the largest number stays
            return np.where(np.isfinite(found), np.clip(found, -kind.max, kind.max), found)
        return np.where(np.abs(found) > kind.max, np.copysign(np.inf, found), found)


def iter_arithmetics(operations: str, sums: str, key: str, *, truncates: bool = False) -> Iterator[RoundedArithmetic]:
    """One arithmetic that rounds to nearest, and one for each number of lanes that rounds by chance, from `key`."""
    kinds = FORMATS[operations], FORMATS[sums]
    yield RoundedArithmetic(*kinds, truncates=truncates)
    for number, lanes in enumerate(LANES_OF_TRUNCATED if truncates else LANES):
        seed = int.from_bytes(hashlib.blake2b(f"{key}|rounded{number}".encode(), digest_size=8).digest(), "little")
        chance = None if truncates else np.random.Generator(np.random.Philox(seed))
        yield RoundedArithmetic(*kinds, lanes=lanes, truncates=truncates, chance=chance)


def wrap(values: Array, arithmetic: RoundedArithmetic) -> RoundedArray:
    """`values`, numbers of their own dtype, for computing in `arithmetic`; they are not rounded themselves."""
    array = np.asarray(values, dtype=np.float64).view(RoundedArray)
    array.arithmetic = arithmetic
    return array


def unwrap(values: Any) -> Array:
    """A plain array of the numbers."""
    return values.view(np.ndarray) if isinstance(values, RoundedArray) else np.asarray(values)


class RoundedArray(np.ndarray[Any, np.dtype[Any]]):
    """A float64 array every operation on which is rounded to a format."""

    arithmetic: RoundedArithmetic

    def __array_finalize__(self, other: Any) -> None:
        found = getattr(other, "arithmetic", None)
        if found is not None:
            self.arithmetic = found

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        how = _arithmetic_of([*inputs, *(out or ())])
        plain = [unwrap(v) if isinstance(v, np.ndarray) else v for v in inputs]
        with np.errstate(all="ignore"):
            result = _apply(ufunc, method, plain, kwargs, how)
        if method == "at" or result is NotImplemented:
            return None if method == "at" else result
        if out is not None:
            unwrap(out[0])[...] = result
            return out[0]
        return _wrap_result(result, how)

    def __array_function__(self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        how = self.arithmetic
        if func is np.mean and isinstance(args[0], RoundedArray):
            return _wrap_result(_take_mean(unwrap(args[0]), *args[1:], how=how, **kwargs), how)
        if func is np.einsum:
            return _wrap_result(_compute_einsum(args[0], [unwrap(v) for v in args[1:]], how), how)
        if func in DECIDED:
            return func(*_strip_nested(args), **_strip_nested(kwargs))
        result = super().__array_function__(func, types, args, kwargs)
        return _wrap_result(result, how)


def _arithmetic_of(values: Iterable[Any]) -> RoundedArithmetic:
    """That of the first array which has one, in nested sequences too."""
    for v in values:
        if isinstance(v, RoundedArray):
            return v.arithmetic
        if isinstance(v, list | tuple):
            try:
                return _arithmetic_of(v)
            except LookupError:
                continue
    raise LookupError("no array of rounded numbers")


def _strip_nested(values: Any) -> Any:
    if isinstance(values, dict):
        return {k: _strip_nested(v) for k, v in values.items()}
    if isinstance(values, list | tuple):
        return type(values)(_strip_nested(v) for v in values)
    return unwrap(values) if isinstance(values, RoundedArray) else values


def _wrap_result(result: Any, how: RoundedArithmetic) -> Any:
    if isinstance(result, list | tuple):
        made = [_wrap_result(r, how) for r in result]
        return result._make(made) if hasattr(result, "_make") else type(result)(made)
    if not isinstance(result, np.ndarray | np.floating) or np.asarray(result).dtype.kind != "f":
        return unwrap(result) if isinstance(result, RoundedArray) else result
    return wrap(flush(unwrap(result), how.tiny), how)


def _apply(ufunc: np.ufunc, method: str, inputs: list[Any], kwargs: dict[str, Any], how: RoundedArithmetic) -> Any:
    if method == "at":
        return _add_at(ufunc, inputs, how)
    if method == "reduce" and ufunc is np.add:
        return _sum(inputs[0], kwargs, how)
    if method == "accumulate" and ufunc in (np.add, np.multiply):
        return _scan(ufunc, inputs[0], kwargs.get("axis", 0), how)
    if method == "reduce" and ufunc is np.multiply:
        return _multiply_along(inputs[0], kwargs, how)
    if ufunc is np.matmul:
        return _multiply_matrices(inputs[0], inputs[1], how)
    result = getattr(ufunc, method)(*inputs, **kwargs)
    if np.asarray(result).dtype.kind != "f":
        return result
    if ufunc in _SELECTS:  # a number that is no array's may have been chosen
        return _to_format(np.asarray(result), how.operations, _choose_rounding(how.truncates))
    return how.rounded(result)


def _take_mean(x: Array, axis: Any = None, *, keepdims: bool = False, how: RoundedArithmetic) -> Any:
    """A mean, whose sum is stored nowhere."""
    count = x.size if axis is None or x.ndim == 0 else math.prod(x.shape[a] for a in np.atleast_1d(axis))
    with np.errstate(all="ignore"):
        return how.rounded(_sum(x, {"axis": axis, "keepdims": keepdims}, how, stores=False) / count)


def _sum(x: Any, kwargs: dict[str, Any], how: RoundedArithmetic, *, stores: bool = True) -> Any:
    """A sum in the format of sums, rounded to that of operations where it is stored."""
    x = np.asarray(x)
    if x.dtype.kind != "f":
        return np.add.reduce(x, **kwargs)
    axis = kwargs.get("axis", 0)
    axes = tuple(range(x.ndim)) if axis is None or x.ndim == 0 else tuple(np.atleast_1d(axis) % x.ndim)
    kept = [a for a in range(x.ndim) if a not in axes]
    rows = np.transpose(x, (*axes, *kept)).reshape(math.prod(x.shape[a] for a in axes), *(x.shape[a] for a in kept))
    if not x.size:
        return np.add.reduce(x, **kwargs)
    total = _add_terms(rows, how)
    total = how.rounded(total) if stores else total
    return total.reshape([1 if a in axes else n for a, n in enumerate(x.shape)]) if kwargs.get("keepdims") else total


def _add_terms(terms: Array, how: RoundedArithmetic) -> Array:
    """The sum over the first axis, term after term in the format of sums, dealt to so many lanes in turn."""
    if len(terms) == 0 or how.sums.digits >= DTYPES["f32"].digits:
        return how.summed(np.sum(terms, axis=0))
    if how.lanes == 1 or len(terms) <= how.lanes:
        return _in_turn(terms, how)
    missing = -len(terms) % how.lanes
    dealt = np.concatenate([terms, np.zeros((missing, *terms.shape[1:]))]).reshape(-1, how.lanes, *terms.shape[1:])
    return _in_turn(_in_turn(dealt, how), how)


def _in_turn(terms: Array, how: RoundedArithmetic) -> Array:
    if how.truncates or how.sums.name == "tf32":
        total = np.zeros(terms.shape[1:])
        for term in terms:
            total = how.summed(total + term)
        return total
    narrow = terms.astype(how.sums.numpy)
    return np.asarray(np.add.accumulate(narrow, axis=0)[-1]).astype(np.float64)


def _scan(ufunc: np.ufunc, x: Array, axis: int, how: RoundedArithmetic) -> Array:
    if ufunc is np.add and how.sums.digits >= DTYPES["f32"].digits:
        return how.rounded(np.add.accumulate(x, axis=axis))
    rows = np.moveaxis(x, axis, 0)
    found = np.empty(rows.shape)
    total = np.zeros(rows.shape[1:]) if ufunc is np.add else np.ones(rows.shape[1:])
    round_ = how.summed if ufunc is np.add else how.rounded
    for i, row in enumerate(rows):
        total = found[i] = round_(ufunc(total, row))
    return how.rounded(np.moveaxis(found, 0, axis))


def _multiply_along(x: Array, kwargs: dict[str, Any], how: RoundedArithmetic) -> Any:
    axis, keepdims = kwargs.get("axis", 0), bool(kwargs.get("keepdims"))
    axes = range(x.ndim) if axis is None else sorted(np.atleast_1d(axis) % max(x.ndim, 1), reverse=True)
    found = x
    for a in sorted(axes, reverse=True):
        last = np.expand_dims(_multiply_factors(np.moveaxis(found, a, 0), how), a)
        found = last if keepdims else last.squeeze(axis=a)
    return found


def _multiply_factors(factors: Array, how: RoundedArithmetic) -> Array:
    """The product over the first axis, factor after factor, dealt to so many lanes in turn, as sums are."""
    if not len(factors):
        return np.ones(factors.shape[1:])
    if how.lanes == 1 or len(factors) <= how.lanes:
        return np.asarray(_scan(np.multiply, factors, 0, how)[-1])
    missing = -len(factors) % how.lanes
    dealt = np.concatenate([factors, np.ones((missing, *factors.shape[1:]))]).reshape(-1, how.lanes, *factors.shape[1:])
    return np.asarray(_scan(np.multiply, _scan(np.multiply, dealt, 0, how)[-1], 0, how)[-1])


def _multiply_matrices(a: Array, b: Array, how: RoundedArithmetic) -> Array:
    if how.sums.digits >= DTYPES["f32"].digits:
        return how.rounded(np.matmul(a, b))
    left, right = (a[None, :] if a.ndim == 1 else a), (b[:, None] if b.ndim == 1 else b)
    batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    left, right = (np.broadcast_to(v, (*batch, *v.shape[-2:])) for v in (left, right))
    shape = (*batch, left.shape[-2], right.shape[-1])
    step = max(1, MAX_PRODUCTS_HELD // max(1, math.prod(shape)))
    total = np.zeros((1, *shape))
    for first in range(0, left.shape[-1], step):
        some = slice(first, first + step)
        rows, columns = np.moveaxis(left[..., some], -1, 0), np.moveaxis(right[..., some, :], -2, 0)
        total = _add_terms(np.concatenate([total, rows[..., :, None] * columns[..., None, :]]), how)[None]
    found = how.rounded(total[0])
    drop = ((-2,) if a.ndim == 1 else ()) + ((-1,) if b.ndim == 1 else ())
    return np.squeeze(found, axis=drop) if drop else found


def _compute_einsum(spec: str, operands: Sequence[Array], how: RoundedArithmetic) -> Array:
    """A contraction; of several operands, or with sums as precise as float32's, the products alone are exact."""
    left, right = spec.replace(" ", "").split("->")
    if how.sums.digits >= DTYPES["f32"].digits or "." in spec or len(operands) > 2:
        return how.rounded(np.einsum(spec, *operands))
    summed = "".join(dict.fromkeys(label for label in left.replace(",", "") if label not in right))
    products = np.einsum(f"{left}->{summed}{right}", *operands)
    if products.size > MAX_PRODUCTS_HELD or not summed:
        return how.rounded(np.einsum(spec, *operands))
    return how.rounded(_add_terms(products.reshape(-1, *products.shape[len(summed) :]), how))


def _add_at(ufunc: np.ufunc, inputs: list[Any], how: RoundedArithmetic) -> None:
    """np.add.at term after term: of every place those that are added to it, in their order."""
    target, index, values = inputs
    if ufunc is not np.add or how.sums.digits >= DTYPES["f32"].digits:
        ufunc.at(target, index, values)
        target[...] = how.rounded(target)
        return
    places = np.arange(target.size).reshape(target.shape)[index]
    terms = np.broadcast_to(np.asarray(values, dtype=np.float64), places.shape).ravel()
    order = np.argsort(places.ravel(), kind="stable")
    where, starts, counts = np.unique(places.ravel()[order], return_index=True, return_counts=True)
    flat = target.reshape(-1)
    for count in np.unique(counts):  # places with as many terms are added up at once
        chosen = np.flatnonzero(counts == count)
        rows = terms[order[starts[chosen][None, :] + np.arange(count)[:, None]]]
        flat[where[chosen]] = how.rounded(_add_terms(np.concatenate([flat[where[chosen]][None], rows]), how))
    target[...] = flat.reshape(target.shape)
