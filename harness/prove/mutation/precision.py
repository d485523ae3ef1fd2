"""Mutants that compute in less precision than they may: rounded inputs, rounded results, low accumulation."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from opproof.harness.prove.mutation.mutant import Arrays, Call, Mutant, Profile, of_results, on_floats
from opproof.vocabulary.arrays import Array
from opproof.vocabulary.dtypes import DTYPES, round_to

Change = Callable[[Array], Array]


def mutants(profile: Profile) -> Iterator[Mutant]:
    """Mutants of one operator in one mode."""
    if not profile.moving and profile.mode == "gradient":
        return
    for name in ("bf16", "f16") if profile.floats & profile.read or profile.mode == "gradient" else ():
        yield Mutant(f"inputs rounded to {name}", _inputs(_rounded(name)), ("f32",))
        if profile.moving:
            yield of_results(f"results rounded to {name}", _rounded(name), dtypes=("f32",))
        if profile.moving and not profile.op.is_exact(profile.mode):
            yield Mutant(f"sums accumulated in {name}", accumulated(name), (name,), must_show=False)
    if profile.op.multilinear and len(profile.floats) > 1 and not profile.op.is_exact(profile.mode):
        yield Mutant("inputs truncated to tf32", _inputs(_tf32), ("f32",))


def _rounded(name: str) -> Change:
    return lambda x: round_to(np.asarray(x, dtype=np.float64), DTYPES[name])


def _tf32(x: Array) -> Array:
    bits = np.ascontiguousarray(x).astype(np.float32).view(np.uint32) & np.uint32(0xFFFFE000)
    return bits.view(np.float32).astype(np.float64).reshape(x.shape)


def _inputs(change: Change) -> Callable[[Call], Arrays]:
    def results(call: Call) -> Arrays:
        gs = None if call.cotangents is None else on_floats(change, call.cotangents)
        return call.again(inputs=on_floats(change, call.inputs), cotangents=gs)

    return results


def accumulated(name: str) -> Callable[[Call], Arrays]:
    """The reference with every sum taken one term after another, the running sum rounded to `name` each time."""

    def results(call: Call) -> Arrays:
        op = call.op

        def forward(*tensors: Any, **params: Any) -> Any:
            return _plain(op.forward(*(_low(x, name) for x in tensors), **params))

        def vjp(g: Any, y: Any, *tensors: Any, **params: Any) -> Any:
            assert op.vjp is not None
            low = [_low(x, name) for x in tensors]
            return _plain(op.vjp(_low(g, name), _low(y, name), *low, **params))

        return call.again(op=replace(op, forward=forward, vjp=None if op.vjp is None else vjp))

    return results


class Low(np.ndarray):
    """A float32 array whose sums and products of matrices are accumulated in `name`."""

    name: str

    def __array_finalize__(self, origin: Any) -> None:
        self.name = getattr(origin, "name", "f16")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        plain = [np.asarray(x) if isinstance(x, Low) else x for x in inputs]
        if "out" in kwargs:
            kwargs["out"] = tuple(np.asarray(x) if isinstance(x, Low) else x for x in kwargs["out"])
        if ufunc is np.add and method == "reduce" and plain[0].dtype.kind == "f" and "out" not in kwargs:
            axis, keepdims = kwargs.get("axis", 0), bool(kwargs.get("keepdims", False))
            return _low(_sum(plain[0], axis, keepdims, self.name), self.name)
        if ufunc is np.add and method == "at" and plain[0].dtype.kind == "f":
            return _add_at(plain[0], plain[1], plain[2], self.name)
        if ufunc is np.matmul and method == "__call__" and "out" not in kwargs:
            return _low(_matmul(plain[0], plain[1], self.name), self.name)
        return _low(getattr(ufunc, method)(*plain, **kwargs), self.name)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func is np.cumsum:
            return _low(_cumsum(np.asarray(args[0]), kwargs["axis"], self.name), self.name)
        if func is np.einsum:
            return _low(_einsum(args[0], [np.asarray(x) for x in args[1:]], self.name), self.name)
        return _low(super().__array_function__(func, types, args, kwargs), self.name)  # np.where makes plain arrays


def _low(x: Any, name: str) -> Any:
    if isinstance(x, tuple | list):
        return type(x)(_low(v, name) for v in x)
    if not isinstance(x, np.ndarray | np.generic) or np.asarray(x).dtype.kind != "f":
        return x
    low = np.asarray(x).view(Low)
    low.name = name
    return low


def _plain(result: Any) -> Any:
    if isinstance(result, tuple | list):
        return tuple(_plain(v) for v in result)
    return np.asarray(result) if isinstance(result, Low) else result


def _steps(terms: Array, name: str) -> Iterator[Array]:
    """Running sums over the first axis, each rounded."""
    kind = DTYPES[name].numpy
    total = np.zeros(terms.shape[1:], kind)
    for term in terms:
        total = (total.astype(np.float32) + term).astype(kind)
        yield total.astype(np.float32)


def _sum(x: Array, axis: Any, keepdims: bool, name: str) -> Array:
    axes = tuple(range(x.ndim)) if axis is None else tuple(a % x.ndim for a in np.atleast_1d(axis))
    rest = tuple(a for a in range(x.ndim) if a not in axes)
    count = math.prod(x.shape[a] for a in axes)
    terms = np.transpose(x, (*axes, *rest)).reshape(count, *(x.shape[a] for a in rest))
    total = np.zeros(terms.shape[1:], np.float32)
    for total in _steps(terms, name):  # noqa: B007 - the last running sum
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


def _cumsum(x: Array, axis: int, name: str) -> Array:
    terms = np.moveaxis(x, axis, 0)
    return np.moveaxis(np.stack([*_steps(terms, name)]) if len(terms) else terms, 0, axis)
