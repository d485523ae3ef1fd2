"""Mutants that take inputs, indices or parameters for others: ignored, swapped, misread."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from mutation.mutant import (
    Arrays,
    Change,
    Mutant,
    Profile,
    ReferenceCall,
    are_same_arrays,
    can_hide,
    clear_tail,
    is_float,
    is_number,
    on_floats,
)
from mutation.precision import LOWER
from opproof.cases._fills.fills import NOT_FINITE
from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, round_to
from opproof.reference_ops._codes import PER_BYTE, decode


def input_mutants(profile: Profile) -> Iterator[Mutant]:
    """Mutants of one operator in one mode."""
    for i in sorted(profile.floats):
        name = profile.inputs[i]
        yield Mutant(f"{name} taken for zeros", _change_input(i, np.zeros_like), must_show=i in profile.read)
        for width in (8, 32):
            yield can_hide(
                f"inner axis of {name} past a multiple of {width} dropped", _change_input(i, clear_tail(width))
            )
        yield can_hide(f"last row of {name} dropped", _change_input(i, _drop_last_row))
        if name in profile.op.optional:
            yield Mutant(f"{name} ignored", _ignore_input(i))
    for i, j in profile.pairs():
        yield can_hide(f"{profile.inputs[i]} and {profile.inputs[j]} swapped", _swap_inputs(i, j))
    if profile.read and any(case.fill in NOT_FINITE for case in profile.cases):
        yield Mutant("NaN taken for 0", _replace_nan(profile.inputs))
        yield can_hide("infinity taken for the largest number", _replace_infinity)
    yield from _make_index_mutants()


def _change_input(i: int, change: Change) -> Callable[[ReferenceCall], Arrays]:
    """The honest answer to other values of argument `i`; aliases of it change too."""

    def results(call: ReferenceCall) -> Arrays:
        if i >= len(call.inputs) or not is_number(call.inputs[i]):
            return call.right
        x = call.inputs[i]
        assert x is not None
        y = change(x.copy())
        return call.right if are_same_arrays([x], [y]) else call.again(inputs=[y if v is x else v for v in call.inputs])

    return results


def _drop_last_row(x: Array) -> Array:
    if x.ndim > 1 and len(x) > 1:
        x[-1] = 0
    return x


def _ignore_input(i: int) -> Callable[[ReferenceCall], Arrays]:
    def results(call: ReferenceCall) -> Arrays:
        if i >= len(call.inputs) or call.inputs[i] is None:
            return call.right
        found = call.again(inputs=[*call.inputs[:i], None, *call.inputs[i + 1 :]])
        if call.cotangents is None:
            return found
        return [r if w is None or f is None else f for f, w, r in zip(found, call.right, call.right, strict=True)]

    return results


def _swap_inputs(i: int, j: int) -> Callable[[ReferenceCall], Arrays]:
    def results(call: ReferenceCall) -> Arrays:
        if j >= len(call.inputs):
            return call.right
        a, b = call.inputs[i], call.inputs[j]
        if a is None or b is None or a.shape != b.shape:
            return call.right
        moved = list(call.inputs)
        moved[i], moved[j] = b, a
        return call.again(inputs=moved)

    return results


def _replace_nan(names: Sequence[str]) -> Callable[[ReferenceCall], Arrays]:
    """Numbers that are NaN, and bytes that are its codes."""

    def results(call: ReferenceCall) -> Arrays:
        moved = on_floats(lambda x: np.where(np.isnan(x), 0, x), call.inputs)
        for i, name in enumerate(names[: len(moved)]):
            x, kind = moved[i], str(call.params.get("scales" if name == "scale" else "type"))
            if x is not None and x.dtype == np.uint8 and PER_BYTE.get(kind) == 1:
                moved[i] = np.where(np.isnan(decode(x, kind)), 0, x).astype(np.uint8)
        return call.right if are_same_arrays(moved, call.inputs) else call.again(inputs=moved)

    return results


def _replace_infinity(call: ReferenceCall) -> Arrays:
    def change(x: Array | None) -> Array | None:
        if x is None or not is_float(x) or not np.isinf(x.astype(np.float64)).any():
            return x
        largest = np.array(65504.0 if x.dtype.itemsize == 2 else 3e38)
        values = x.astype(np.float64)
        return np.where(np.isinf(values), np.sign(values) * largest, values).astype(x.dtype)

    return call.again(inputs=[change(x) for x in call.inputs])


def _make_index_mutants() -> Iterator[Mutant]:
    """Indices that are taken for sorted, for all alike; none where the operator has no indices."""

    def of(name: str, change: Change) -> Mutant:
        def results(call: ReferenceCall) -> Arrays:
            whole = [x is not None and x.dtype == np.int64 and x.size > 0 for x in call.inputs]
            if not any(whole):
                return call.right
            return call.again(
                inputs=[change(x) if w and x is not None else x for x, w in zip(call.inputs, whole, strict=True)]
            )

        return can_hide(name, results)

    yield of("indices taken for sorted", lambda x: np.sort(x, axis=-1) if x.ndim else x)
    yield of("first index for all", lambda x: np.full_like(x, x.flat[0]))
    yield of("indices one less", lambda x: np.maximum(x - 1, 0))


Params = Mapping[str, Any]

#: Parameters that name axes, where the first tensor has several.
_AXES = ("dim", "dims", "dim0", "dim1")


def parameter_mutants(profile: Profile) -> Iterator[Mutant]:
    """Mutants of one operator in one mode."""
    forward = profile.mode == "forward"
    several_axes = any(len(case.shapes.get(profile.inputs[0], ())) > 1 for case in profile.cases if profile.inputs)
    for name, default in profile.op.params.items():
        seen = {case.kwargs[name] for case in profile.cases if name in case.kwargs}
        kinds = {type(v) for v in (*seen, default)}
        if default is not inspect.Parameter.empty:
            yield Mutant(f"{name} ignored", _change_param(name, _replace_by(default)), must_show=forward)
        if name in _AXES and several_axes:
            yield Mutant(f"{name}: next axis", _move_to_next_axis(name), must_show=forward)
        elif float in kinds:
            yield can_hide(f"{name} 2 % more", _change_param(name, lambda v: v * 1.02 if isinstance(v, float) else v))
            for kind in _narrow(profile.dtype):
                yield can_hide(f"{name} rounded to {kind}", _change_param(name, _round_param(kind)))
            yield can_hide(f"{name} zero", _change_param(name, lambda v: 0.0 if isinstance(v, float) else v))
        elif bool in kinds:
            yield Mutant(f"{name} inverted", _change_param(name, lambda v: not v), must_show=forward)
        elif int in kinds:
            yield can_hide(f"{name} one more", _change_param(name, lambda v: v + 1 if isinstance(v, int) else v))
        if any(isinstance(v, tuple) and len(set(v)) > 1 for v in seen):
            yield can_hide(f"{name} reversed", _change_param(name, lambda v: v[::-1] if isinstance(v, tuple) else v))
            yield can_hide(
                f"first of {name} for all", _change_param(name, lambda v: v[:1] * len(v) if isinstance(v, tuple) else v)
            )
        choices = sorted({v for v in (*seen, default) if isinstance(v, str)})
        for choice in choices if len(choices) > 1 else ():
            yield Mutant(f"{name} always {choice}", _change_param(name, _replace_by(choice)))
    for a, b in combinations(profile.op.params, 2):
        if any(_is_comparable(case.kwargs.get(a), case.kwargs.get(b)) for case in profile.cases):
            yield can_hide(f"{a} and {b} swapped", _swap_params(a, b))
    if profile.op.params:
        yield can_hide("parameters of the first call with these shapes", _reuse_first_call)


def _narrow(dtype: str) -> tuple[str, ...]:
    """The dtypes in which a parameter may be kept by mistake; beside integers none."""
    own = () if dtype == "f32" or DTYPES[dtype].whole else (dtype,)
    return (*own, *LOWER.get(dtype, ()))


def _round_param(kind: str) -> Callable[[Any], Any]:
    return lambda v: float(round_to(v, DTYPES[kind])) if isinstance(v, float) else v


def _replace_by(value: Any) -> Callable[[Any], Any]:
    return lambda _: value


def _change_param(name: str, change: Callable[[Any], Any]) -> Callable[[ReferenceCall], Arrays]:
    return lambda call: call.again(params={**call.params, name: change(call.params[name])})


def _move_to_next_axis(name: str) -> Callable[[ReferenceCall], Arrays]:
    def results(call: ReferenceCall) -> Arrays:
        x = call.inputs[0]
        value = call.params[name]
        rank = x.ndim if x is not None else 0
        if value is None or rank < 2:
            return call.right
        moved = tuple((d + 1) % rank for d in value) if isinstance(value, tuple) else (value + 1) % rank
        return call.again(params={**call.params, name: moved})

    return results


def _is_comparable(a: Any, b: Any) -> bool:
    """Whether two values of a case could stand for each other, and differ."""
    numbers = isinstance(a, int | float) and isinstance(b, int | float) and isinstance(a, bool) == isinstance(b, bool)
    tuples = isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b)
    return (numbers or tuples) and a != b


def _swap_params(a: str, b: str) -> Callable[[ReferenceCall], Arrays]:
    def results(call: ReferenceCall) -> Arrays:
        if not _is_comparable(call.params[a], call.params[b]):
            return call.right
        return call.again(params={**call.params, a: call.params[b], b: call.params[a]})

    return results


def _reuse_first_call(call: ReferenceCall) -> Arrays:
    """A kernel compiled for the first call is found again by shapes alone."""
    key = tuple(None if x is None else x.shape for x in call.inputs)
    first = call.kept.setdefault(key, call.params)
    return call.again(params=first)
