"""Arrays that accumulate in less precision than float32: every running sum is rounded."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.harness.prove.mutation.arrays import Arrays, mapped
from opproof.harness.prove.mutation.call import Call, seen_as


def accumulated(name: str) -> Callable[[Call], Arrays]:
    """The reference with every sum taken one term after another, the running sum rounded to `name` each time."""
    return seen_as(lambda x: low(x, name))


#: Ufuncs whose reductions and scans are sums.
_ADDED = (np.add, np.logaddexp)


class Low(np.ndarray):
    """A float32 array whose sums and products of matrices are accumulated in `name`."""

    name: str

    def __array_finalize__(self, origin: Any) -> None:
        self.name = getattr(origin, "name", "f16")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        given = [np.asarray(x) if isinstance(x, Low) else x for x in inputs]
        if "out" in kwargs:
            kwargs["out"] = tuple(np.asarray(x) if isinstance(x, Low) else x for x in kwargs["out"])
        if ufunc in _ADDED and method == "reduce" and given[0].dtype.kind == "f" and "out" not in kwargs:
            axis, keepdims = kwargs.get("axis", 0), bool(kwargs.get("keepdims", False))
            return low(_sum(given[0], axis, keepdims, self.name, ufunc), self.name)
        if ufunc is np.add and method == "at" and given[0].dtype.kind == "f":
            return _add_at(given[0], given[1], given[2], self.name)
        if ufunc in _ADDED and method == "accumulate" and given[0].dtype.kind == "f":
            return low(_scan(given[0], kwargs.get("axis", 0), self.name, ufunc), self.name)
        if ufunc is np.matmul and method == "__call__" and "out" not in kwargs:
            return low(_matmul(given[0], given[1], self.name), self.name)
        return low(getattr(ufunc, method)(*given, **kwargs), self.name)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func is np.cumsum:
            return low(_scan(np.asarray(args[0]), kwargs["axis"], self.name), self.name)
        if func is np.einsum:
            return low(_einsum(args[0], [np.asarray(x) for x in args[1:]], self.name), self.name)
        return low(super().__array_function__(func, types, args, kwargs), self.name)  # np.where makes plain arrays


def low(x: Any, name: str) -> Any:
    """The float arrays in `x` as `Low` ones."""
    return mapped(lambda v: _viewed(v, name), x)


def _viewed(x: Any, name: str) -> Any:
    if not isinstance(x, np.ndarray | np.generic) or np.asarray(x).dtype.kind != "f":
        return x
    seen = np.asarray(x).view(Low)
    seen.name = name
    return seen


def _steps(terms: Array, name: str, added: np.ufunc = np.add) -> Iterator[Array]:
    """Running sums by `added` over the first axis, each rounded."""
    kind = DTYPES[name].numpy
    total = np.full(terms.shape[1:], added.identity, kind)
    for term in terms:
        total = added(total.astype(np.float32), term).astype(kind)
        yield total.astype(np.float32)


def _sum(x: Array, axis: Any, keepdims: bool, name: str, added: np.ufunc = np.add) -> Array:
    axes = tuple(range(x.ndim)) if axis is None else tuple(a % x.ndim for a in np.atleast_1d(axis))
    rest = tuple(a for a in range(x.ndim) if a not in axes)
    count = math.prod(x.shape[a] for a in axes)
    terms = np.transpose(x, (*axes, *rest)).reshape(count, *(x.shape[a] for a in rest))
    total = np.full(terms.shape[1:], added.identity, np.float32)
    for total in _steps(terms, name, added):  # noqa: B007 - the last running sum
        pass
    return total.reshape([1 if a in axes else n for a, n in enumerate(x.shape)]) if keepdims else total


def _matmul(a: Array, b: Array, name: str) -> Array:
    left = a[None, :] if a.ndim == 1 else a
    right = b[:, None] if b.ndim == 1 else b
    total: Array = np.zeros((*np.broadcast_shapes(left.shape[:-2], right.shape[:-2]), left.shape[-2], right.shape[-1]))
    terms = (left[..., k, None] * right[..., k, None, :] for k in range(left.shape[-1]))
    kind = DTYPES[name].numpy
    total = total.astype(kind)
    for term in terms:
        total = (total.astype(np.float32) + term).astype(kind)
    found = total.astype(np.float32)
    found = found[..., 0] if b.ndim == 1 else found
    return found[..., 0, :] if a.ndim == 1 and b.ndim > 1 else found[..., 0] if a.ndim == 1 else found


def _einsum(spec: str, operands: list[Array], name: str) -> Array:
    left, right = spec.split("->")
    summed = "".join(sorted({label for label in left if label.isalpha()} - set(right)))
    terms = np.einsum(f"{left}->{right}{summed}", *operands)
    return _sum(terms, tuple(range(-len(summed), 0)), keepdims=False, name=name) if summed else terms


def _add_at(target: Array, index: Any, values: Array, name: str) -> None:
    """`values` added to `target` one after another, in its own memory."""
    kind = DTYPES[name].numpy
    total = target.astype(kind)
    np.add.at(total, index, np.asarray(values).astype(kind))
    target[...] = total


def _scan(x: Array, axis: int, name: str, added: np.ufunc = np.add) -> Array:
    terms = np.moveaxis(x, axis, 0)
    return np.moveaxis(np.stack([*_steps(terms, name, added)]) if len(terms) else terms, 0, axis)
