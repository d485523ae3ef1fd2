"""Mutants that compute in less precision than they may: inputs, results, sums, intermediates or constants rounded."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mutation.mutant import (
    Arrays,
    Change,
    Mutant,
    Profile,
    ReferenceCall,
    apply_change,
    can_hide,
    evaluate_as,
    map_nested,
    of_results,
    on_floats,
)
from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, Dtype, round_to

#: The dtypes in which a library may do, by mistake, what it should do in this one.
LOWER = {"f32": ("bf16", "f16"), "f16": ("bf16",), "f8e4m3": ("f8e5m2",)}


def precision_mutants(profile: Profile) -> Iterator[Mutant]:
    """Mutants of one operator in one mode."""
    if not profile.moving and profile.mode == "gradient":
        return
    rounds, asked = not profile.op.is_exact(profile.mode), profile.floats & profile.read or profile.mode == "gradient"
    for name in LOWER.get(profile.dtype, ()) if asked else ():
        yield Mutant(f"inputs rounded to {name}", _change_inputs(_round_values(name)))
        if profile.moving:
            yield of_results(f"results rounded to {name}", _round_values(name))
        yield from _make_input_mutants(profile, name)
    if asked and profile.moving and rounds and profile.dtype != "f32":
        yield can_hide(f"sums accumulated in {profile.dtype}", accumulate_in(profile.dtype))
    if profile.dtype == "f32" and profile.op.multilinear and len(profile.floats) > 1 and rounds:
        yield Mutant("inputs truncated to tf32", _change_inputs(_round_to_tf32))


def _make_input_mutants(profile: Profile, name: str) -> Iterator[Mutant]:
    """One input comes in less precision than the others: its conversion was forgotten."""
    if len(profile.floats) + (profile.mode == "gradient") < 2:
        return
    for i in sorted(profile.floats):
        yield can_hide(f"{profile.inputs[i]} alone rounded to {name}", _change_one_input(i, _round_values(name)))
    if profile.mode == "gradient":
        yield can_hide(f"the cotangent alone rounded to {name}", _change_cotangents(_round_values(name)))


def _round_values(name: str) -> Change:
    return lambda x: round_to(np.asarray(x, dtype=np.float64), DTYPES[name])


def _round_to_tf32(x: Array) -> Array:
    bits = np.ascontiguousarray(x).astype(np.float32).view(np.uint32) & np.uint32(0xFFFFE000)
    return bits.view(np.float32).astype(np.float64).reshape(x.shape)


def _change_inputs(change: Change) -> Callable[[ReferenceCall], Arrays]:
    def results(call: ReferenceCall) -> Arrays:
        gs = None if call.cotangents is None else on_floats(change, call.cotangents)
        return call.again(inputs=on_floats(change, call.inputs), cotangents=gs)

    return results


def _change_one_input(i: int, change: Change) -> Callable[[ReferenceCall], Arrays]:
    return lambda call: call.again(inputs=[apply_change(x, change) if k == i else x for k, x in enumerate(call.inputs)])


def _change_cotangents(change: Change) -> Callable[[ReferenceCall], Arrays]:
    def results(call: ReferenceCall) -> Arrays:
        assert call.cotangents is not None
        return call.again(cotangents=on_floats(change, call.cotangents))

    return results


def accumulate_in(name: str) -> Callable[[ReferenceCall], Arrays]:
    """The reference with every sum taken one term after another, the running sum rounded to `name` each time."""
    return evaluate_as(lambda x: wrap_low(x, name))


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
            return wrap_low(_sum(given[0], axis, keepdims, self.name, ufunc), self.name)
        if ufunc is np.add and method == "at" and given[0].dtype.kind == "f":
            return _add_at(given[0], given[1], given[2], self.name)
        if ufunc in _ADDED and method == "accumulate" and given[0].dtype.kind == "f":
            return wrap_low(_scan(given[0], kwargs.get("axis", 0), self.name, ufunc), self.name)
        if ufunc is np.matmul and method == "__call__" and "out" not in kwargs:
            return wrap_low(_compute_matmul(given[0], given[1], self.name), self.name)
        return wrap_low(getattr(ufunc, method)(*given, **kwargs), self.name)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func is np.cumsum:
            return wrap_low(_scan(np.asarray(args[0]), kwargs["axis"], self.name), self.name)
        if func is np.einsum:
            return wrap_low(_compute_einsum(args[0], [np.asarray(x) for x in args[1:]], self.name), self.name)
        return wrap_low(super().__array_function__(func, types, args, kwargs), self.name)  # np.where makes plain arrays


def wrap_low(x: Any, name: str) -> Any:
    """The float arrays in `x` as `Low` ones."""
    return map_nested(lambda v: _wrap_array(v, name), x)


def _wrap_array(x: Any, name: str) -> Any:
    if not isinstance(x, np.ndarray | np.generic) or np.asarray(x).dtype.kind != "f":
        return x
    seen = np.asarray(x).view(Low)
    seen.name = name
    return seen


def _accumulate_steps(terms: Array, name: str, added: np.ufunc = np.add) -> Iterator[Array]:
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
    for total in _accumulate_steps(terms, name, added):  # noqa: B007 - the last running sum
        pass
    return total.reshape([1 if a in axes else n for a, n in enumerate(x.shape)]) if keepdims else total


def _compute_matmul(a: Array, b: Array, name: str) -> Array:
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


def _compute_einsum(spec: str, operands: list[Array], name: str) -> Array:
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
    return np.moveaxis(np.stack([*_accumulate_steps(terms, name, added)]) if len(terms) else terms, 0, axis)


InteriorChange = Callable[[Any], Any]


def interior_mutants(profile: Profile) -> Iterator[Mutant]:
    """Mutants of one operator in one mode."""
    if not profile.moving or profile.op.is_exact(profile.mode):
        return
    own = (profile.dtype,) if profile.dtype != "f32" else ()
    for name in (*own, *LOWER.get(profile.dtype, ())):
        kind = DTYPES[name]
        yield can_hide(f"intermediates stored in {name}", evaluate_as(_store_intermediates(kind)))
        yield can_hide(f"constants rounded to {name}", evaluate_as(_round_constants(kind)))


def _store_intermediates(kind: Dtype) -> InteriorChange:
    """Arrays of which every operation's result is rounded; sums are accumulated in float32 before."""
    return lambda x: _wrap_interior(x, result=lambda y: _round_interior(y, kind), constant=lambda c: c)


def _round_constants(kind: Dtype) -> InteriorChange:
    """Arrays that meet numbers, the operator's own and its parameters, rounded."""
    return lambda x: _wrap_interior(
        x, result=lambda y: y, constant=lambda c: float(_round_interior(np.float32(c), kind))
    )


def _round_interior(y: Any, kind: Dtype) -> Any:
    array = np.asarray(y)
    return array.astype(kind.numpy).astype(array.dtype) if array.dtype.kind == "f" else y


class Interior(np.ndarray):
    """A float array with a change for every operation's result, and one for the constants it meets."""

    result: InteriorChange
    constant: InteriorChange

    def __array_finalize__(self, origin: Any) -> None:
        self.result = getattr(origin, "result", _keep_value)
        self.constant = getattr(origin, "constant", _keep_value)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        given = [self._given(x) for x in inputs]
        out = kwargs.pop("out", None)
        if method == "at":
            getattr(ufunc, method)(*given, **kwargs)
            return None
        found = self._wrapped(self.result(getattr(ufunc, method)(*given, **kwargs)))
        if out is None:
            return found
        np.asarray(out[0])[...] = found
        return out[0]

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func in (np.mean, np.cumsum, np.einsum):  # each is one kernel
            bare = [np.asarray(x) if isinstance(x, Interior) else x for x in args]
            return self._wrapped(self.result(func(*bare, **kwargs)))
        return map_nested(self._wrapped, super().__array_function__(func, types, args, kwargs))

    def _given(self, x: Any) -> Any:
        if isinstance(x, Interior):
            return np.asarray(x)
        return self.constant(x) if isinstance(x, float | np.floating) else x

    def _wrapped(self, y: Any) -> Any:
        return _wrap_interior(y, result=self.result, constant=self.constant)


def _keep_value(x: Any) -> Any:
    return x


def _wrap_interior(x: Any, *, result: InteriorChange, constant: InteriorChange) -> Any:
    if not isinstance(x, np.ndarray | np.generic) or np.asarray(x).dtype.kind != "f":
        return x
    seen = np.asarray(x).view(Interior)
    seen.result, seen.constant = result, constant
    return seen
