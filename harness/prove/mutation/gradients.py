"""Mutants of gradients: cotangents taken for others, saved outputs ignored, gradients in the wrong order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.harness.prove.mutation.arrays import Arrays, is_float
from opproof.harness.prove.mutation.call import Call
from opproof.harness.prove.mutation.mutant import Mutant, Profile

Change = Callable[[Array], Array]


def mutants(profile: Profile) -> Iterator[Mutant]:
    """Mutants of one operator in one mode; none in forward mode."""
    if profile.mode == "forward":
        return
    if profile.moving:
        yield Mutant("cotangent of ones", _cotangent(np.ones_like))
        if profile.cotangent_rank:
            yield Mutant("cotangent constant", _cotangent(lambda g: np.full_like(g, g.flat[0]) if g.size else g))
            yield Mutant("first row of the cotangent for all", _cotangent(_first_row), must_show=False)
            yield Mutant("last row of the cotangent for all", _cotangent(_last_for_all), must_show=False)
    yield Mutant("saved output taken for zeros", _saved(np.zeros_like), must_show=False)
    yield Mutant("saved output taken for ones", _saved(np.ones_like), must_show=False)
    yield Mutant("derivative at the output", _at_output, must_show=False)
    if len(profile.graded) > 1:
        yield Mutant("gradients in the order of the inputs that need one", _compressed)


def _cotangent(change: Change) -> Callable[[Call], Arrays]:
    def results(call: Call) -> Arrays:
        assert call.cotangents is not None
        return call.again(cotangents=[None if g is None else change(g) for g in call.cotangents])

    return results


def _first_row(g: Array) -> Array:
    return np.repeat(g[:1], len(g), axis=0) if g.ndim else g


def _last_for_all(g: Array) -> Array:
    return np.repeat(g[-1:], len(g), axis=0) if g.ndim else g


def _saved(change: Change) -> Callable[[Call], Arrays]:
    def results(call: Call) -> Arrays:
        vjp = call.op.vjp
        assert vjp is not None

        def with_changed(g: Any, y: Any, *tensors: Any, **params: Any) -> Any:
            other = tuple(map(change, y)) if isinstance(y, tuple) else change(y)
            return vjp(g, other, *tensors, **params)

        return call.again(op=replace(call.op, vjp=with_changed))

    return results


def _at_output(call: Call) -> Arrays:
    y = call.again(cotangents=None)[0]
    x = call.inputs[0]
    if x is None or y is None or y.shape != x.shape or not is_float(y):
        return call.right
    return call.again(inputs=[y, *call.inputs[1:]])


def _compressed(call: Call) -> Arrays:
    """Gradients of the first arguments stand where those of the needed ones belong."""
    if all(call.needs[i] for i in range(len(call.needs)) if is_float(call.inputs[i])):
        return call.right
    every = call.again(needs=[is_float(x) for x in call.inputs])
    given = iter([d for d in every if d is not None])
    return [next(given) if need else None for need in call.needs]
