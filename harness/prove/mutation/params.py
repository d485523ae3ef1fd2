"""Mutants that ignore, swap or misread parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from typing import Any

from opproof.core.dtypes import DTYPES, round_to
from opproof.harness.prove.mutation.arrays import Arrays
from opproof.harness.prove.mutation.call import Call
from opproof.harness.prove.mutation.mutant import Mutant, Profile
from opproof.harness.prove.mutation.precision import LOWER

Params = Mapping[str, Any]

#: Parameters that name axes, where the first tensor has several.
_AXES = ("dim", "dims", "dim0", "dim1")


def mutants(profile: Profile) -> Iterator[Mutant]:
    """Mutants of one operator in one mode."""
    forward = profile.mode == "forward"
    several_axes = any(len(case.shapes.get(profile.inputs[0], ())) > 1 for case in profile.cases if profile.inputs)
    for name, default in profile.op.params.items():
        seen = {case.kwargs[name] for case in profile.cases if name in case.kwargs}
        kinds = {type(v) for v in (*seen, default)}
        if default is not inspect.Parameter.empty:
            yield Mutant(f"{name} ignored", _with(name, _always(default)), must_show=forward)
        if name in _AXES and several_axes:
            yield Mutant(f"{name}: next axis", _next_axis(name), must_show=forward)
        elif float in kinds:
            yield Mutant(
                f"{name} 2 % more", _with(name, lambda v: v * 1.02 if isinstance(v, float) else v), must_show=False
            )
            for kind in _narrow(profile.dtype):
                yield Mutant(f"{name} rounded to {kind}", _with(name, _rounded(kind)), must_show=False)
            yield Mutant(f"{name} zero", _with(name, lambda v: 0.0 if isinstance(v, float) else v), must_show=False)
        elif bool in kinds:
            yield Mutant(f"{name} inverted", _with(name, lambda v: not v), must_show=forward)
        elif int in kinds:
            yield Mutant(f"{name} one more", _with(name, lambda v: v + 1 if isinstance(v, int) else v), must_show=False)
        if any(isinstance(v, tuple) and len(set(v)) > 1 for v in seen):
            yield Mutant(
                f"{name} reversed", _with(name, lambda v: v[::-1] if isinstance(v, tuple) else v), must_show=False
            )
            yield Mutant(
                f"first of {name} for all",
                _with(name, lambda v: v[:1] * len(v) if isinstance(v, tuple) else v),
                must_show=False,
            )
        choices = sorted({v for v in (*seen, default) if isinstance(v, str)})
        for choice in choices if len(choices) > 1 else ():
            yield Mutant(f"{name} always {choice}", _with(name, _always(choice)))
    for a, b in combinations(profile.op.params, 2):
        if any(_comparable(case.kwargs.get(a), case.kwargs.get(b)) for case in profile.cases):
            yield Mutant(f"{a} and {b} swapped", _swapped(a, b), must_show=False)
    if profile.op.params:
        yield Mutant("parameters of the first call with these shapes", _kept, must_show=False)


def _narrow(dtype: str) -> tuple[str, ...]:
    """The dtypes in which a parameter may be kept by mistake; beside whole numbers none."""
    own = () if dtype == "f32" or DTYPES[dtype].whole else (dtype,)
    return (*own, *LOWER.get(dtype, ()))


def _rounded(kind: str) -> Callable[[Any], Any]:
    return lambda v: float(round_to(v, DTYPES[kind])) if isinstance(v, float) else v


def _always(value: Any) -> Callable[[Any], Any]:
    return lambda _: value


def _with(name: str, change: Callable[[Any], Any]) -> Callable[[Call], Arrays]:
    return lambda call: call.again(params={**call.params, name: change(call.params[name])})


def _next_axis(name: str) -> Callable[[Call], Arrays]:
    def results(call: Call) -> Arrays:
        x = call.inputs[0]
        value = call.params[name]
        rank = x.ndim if x is not None else 0
        if value is None or rank < 2:
            return call.right
        moved = tuple((d + 1) % rank for d in value) if isinstance(value, tuple) else (value + 1) % rank
        return call.again(params={**call.params, name: moved})

    return results


def _comparable(a: Any, b: Any) -> bool:
    """Whether two values of a case could stand for each other, and differ."""
    numbers = isinstance(a, int | float) and isinstance(b, int | float) and isinstance(a, bool) == isinstance(b, bool)
    tuples = isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b)
    return (numbers or tuples) and a != b


def _swapped(a: str, b: str) -> Callable[[Call], Arrays]:
    def results(call: Call) -> Arrays:
        if not _comparable(call.params[a], call.params[b]):
            return call.right
        return call.again(params={**call.params, a: call.params[b], b: call.params[a]})

    return results


def _kept(call: Call) -> Arrays:
    """A kernel compiled for the first call is found again by shapes alone."""
    key = tuple(None if x is None else x.shape for x in call.inputs)
    first = call.kept.setdefault(key, call.params)
    return call.again(params=first)
