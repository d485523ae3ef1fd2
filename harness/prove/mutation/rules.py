"""Mutants of rules: kinks, ties, zeros, large inputs, the operator next to this one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.harness.prove.mutation.arrays import Arrays, changed, is_float
from opproof.harness.prove.mutation.call import Call
from opproof.harness.prove.mutation.mutant import Mutant, Profile
from opproof.reference_ops import Trait, load


def mutants(profile: Profile) -> Iterator[Mutant]:
    """Mutants of one operator in one mode."""
    op, forward = profile.op, profile.mode == "forward"
    for name in op.neighbours:
        if forward or (load(name).vjp is not None and profile.moving):
            yield Mutant(f"{name} instead", _neighbour(name), must_show=forward)
    fills = {case.fill for case in profile.cases}
    if profile.floats and profile.moving and not op.multilinear and "extreme" in fills:
        yield Mutant("NaN where an input is beyond 80", _beyond(80))
        yield Mutant("NaN where an input is beyond 1e3", _beyond(1e3))
    if op.kinks is not None and profile.mode == "gradient":
        yield Mutant("gradient at kinks doubled and one more", _at_kinks, must_show=profile.moving)
    if forward and Trait.JUMPS_AT_ZERO in op.traits and not DTYPES[profile.dtype].whole:
        yield Mutant("-0 and 0 taken for a small negative number", _zeros(-1))
        yield Mutant("-0 and 0 taken for a small positive number", _zeros(1))
    if forward and Trait.ORDERED in op.traits and profile.discrete and op.settled is None:  # ties have a rule
        yield Mutant("the last of several equal elements", _last_of_ties)


def _neighbour(name: str) -> Callable[[Call], Arrays]:
    other = load(name)

    def results(call: Call) -> Arrays:
        params = {**other.params, **{n: v for n, v in call.params.items() if n in other.params}}
        return call.again(op=other, params=params)

    return results


def _beyond(limit: float) -> Callable[[Call], Arrays]:
    """NaN in results whose element of an input of the same shape is large, or all of them where none is alike."""

    def results(call: Call) -> Arrays:
        large = [np.abs(x.astype(np.float64)) > limit for x in call.inputs if x is not None and is_float(x)]

        def spoiled(y: Array) -> Array:
            for mask in large:
                if mask.shape == y.shape:
                    y[mask] = np.nan
                elif mask.any():
                    y[...] = np.nan
            return y

        return [changed(y, spoiled) if y is not None and is_float(y) else y for y in call.right]

    return results


def _zeros(sign: int) -> Callable[[Call], Arrays]:
    def change(x: Array | None) -> Array | None:
        if x is None or not is_float(x) or not (x == 0).any():
            return x
        small = np.array(sign * (2.0**-14 if x.dtype.itemsize == 2 else 2.0**-100))  # the smallest normal numbers
        return np.where(x == 0, small.astype(x.dtype), x)

    return lambda call: call.again(inputs=[change(x) for x in call.inputs])


def _at_kinks(call: Call) -> Arrays:
    kinks = call.op.kinks
    assert kinks is not None
    wide = [x.astype(np.float64) if x is not None and is_float(x) else x for x in call.inputs]
    right, first = call.right, call.inputs[0]
    if first is None or not right or right[0] is None:
        return right
    with np.errstate(all="ignore"):
        at = np.broadcast_to(np.asarray(kinks(*wide, **call.params)) == 0, first.shape)
    return [changed(right[0], lambda d: np.where(at, 2 * np.abs(d) + 1, d)), *right[1:]]


def _last_of_ties(call: Call) -> Arrays:
    """The answer to the reversed input, its indices counted from the other end."""
    x = call.inputs[0]
    assert x is not None
    if "kernel_size" in call.op.params:
        return _last_in_windows(call, x)
    axis = call.params["dim"]
    count = x.size if axis is None else x.shape[axis]
    found = call.again(inputs=[np.flip(x, axis=axis)])
    return [count - 1 - y if y is not None and y.dtype.kind == "i" else y for y in found]


def _last_in_windows(call: Call, x: Array) -> Arrays:
    """Maximum pooling whose windows are searched from the end; symmetric ones only, others as they are."""
    plane = x.shape[2:]
    found = call.again(inputs=[np.flip(x, axis=tuple(range(2, x.ndim)))])
    back = [np.flip(y, axis=tuple(range(2, y.ndim))) if y is not None else y for y in found]
    right = call.right
    same = all(a is not None and b is not None and a.shape == b.shape for a, b in zip(back, right, strict=True))
    values, places = back if same else right
    if not same or not np.array_equal(np.asarray(values), np.asarray(right[0]), equal_nan=True):
        return right
    assert places is not None
    return [right[0], int(np.prod(plane)) - 1 - places]
