"""Mutants of rules: kinks, ties, zeros, the operator next to this one, integer arithmetic, draws that are no chance.

Data of integers are drawn so that results fit, and what arithmetic passes through on its way to them: what overflows
here overflows nothing that an honest kernel computes in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from mutation.mutant import (
    Arrays,
    Change,
    Mutant,
    Profile,
    ReferenceCall,
    apply_change,
    can_hide,
    is_float,
)
from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.core.tuples import tuple_of
from opproof.reference_ops import Trait, load


def rule_mutants(profile: Profile) -> Iterator[Mutant]:
    """Mutants of one operator in one mode."""
    op, forward = profile.op, profile.mode == "forward"
    for name in op.neighbours:
        if forward or (load(name).vjp is not None and profile.moving):
            yield Mutant(f"{name} instead", _call_neighbour(name), must_show=forward)
    fills = {case.fill for case in profile.cases}
    if profile.floats and profile.moving and not op.multilinear and "extreme" in fills:
        yield Mutant("NaN where an input is beyond 80", _return_nan_beyond(80))
        yield Mutant("NaN where an input is beyond 1e3", _return_nan_beyond(1e3))
    if op.kinks is not None and profile.mode == "gradient":
        yield Mutant("gradient at kinks doubled and one more", _at_kinks, must_show=profile.moving)
    if forward and Trait.JUMPS_AT_ZERO in op.traits and not DTYPES[profile.dtype].whole:
        yield Mutant("-0 and 0 taken for a small negative number", _replace_zeros(-1))
        yield Mutant("-0 and 0 taken for a small positive number", _replace_zeros(1))
    if forward and Trait.ORDERED in op.traits and profile.discrete and op.settled is None:  # ties have a rule
        yield Mutant("the last of several equal elements", _last_of_ties)


def _call_neighbour(name: str) -> Callable[[ReferenceCall], Arrays]:
    other = load(name)

    def results(call: ReferenceCall) -> Arrays:
        params = {**other.params, **{n: v for n, v in call.params.items() if n in other.params}}
        return call.again(op=other, params=params)

    return results


def _return_nan_beyond(limit: float) -> Callable[[ReferenceCall], Arrays]:
    """NaN in results whose element of an input of the same shape is large, or all of them where none is alike."""

    def results(call: ReferenceCall) -> Arrays:
        large = [np.abs(x.astype(np.float64)) > limit for x in call.inputs if x is not None and is_float(x)]

        def spoiled(y: Array) -> Array:
            for mask in large:
                if mask.shape == y.shape:
                    y[mask] = np.nan
                elif mask.any():
                    y[...] = np.nan
            return y

        return [apply_change(y, spoiled) if y is not None and is_float(y) else y for y in call.right]

    return results


def _replace_zeros(sign: int) -> Callable[[ReferenceCall], Arrays]:
    def change(x: Array | None) -> Array | None:
        if x is None or not is_float(x) or not (x == 0).any():
            return x
        small = np.array(sign * (2.0**-14 if x.dtype.itemsize == 2 else 2.0**-100))  # the smallest normal numbers
        return np.where(x == 0, small.astype(x.dtype), x)

    return lambda call: call.again(inputs=[change(x) for x in call.inputs])


def _at_kinks(call: ReferenceCall) -> Arrays:
    kinks = call.op.kinks
    assert kinks is not None
    wide = [x.astype(np.float64) if x is not None and is_float(x) else x for x in call.inputs]
    right, first = call.right, call.inputs[0]
    if first is None or not right or right[0] is None:
        return right
    with np.errstate(all="ignore"):
        at = np.broadcast_to(np.asarray(kinks(*wide, **call.params)) == 0, first.shape)
    return [apply_change(right[0], lambda d: np.where(at, 2 * np.abs(d) + 1, d)), *right[1:]]


def _last_of_ties(call: ReferenceCall) -> Arrays:
    """The answer to the reversed input, its indices counted from the other end."""
    x = call.inputs[0]
    assert x is not None
    if "kernel_size" in call.op.params:
        return _take_last_in_windows(call, x)
    axis = call.params["dim"]
    count = x.size if axis is None else x.shape[axis]
    found = call.again(inputs=[np.flip(x, axis=axis)])
    return [count - 1 - y if y is not None and y.dtype.kind == "i" else y for y in found]


def _take_last_in_windows(call: ReferenceCall, x: Array) -> Arrays:
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


#: By dtype, floats that do not hold all of its numbers, and in which a library may compute what it should in integers.
_FLOATS = {"i32": np.float32, "i16": np.float16, "i8": None, "u8": None}


def integer_mutants(profile: Profile) -> Iterator[Mutant]:
    """Mutants of one operator in one mode."""
    dtype = DTYPES[profile.dtype]
    if not dtype.whole or profile.mode != "forward" or not profile.discrete:
        return
    digits = dtype.digits // 2
    yield can_hide(f"results of {digits} bits, the rest cut off", _change_results(_wrap_digits(digits)))
    yield can_hide(f"results of {digits} bits, larger ones at the end", _change_results(_clip_digits(digits)))
    floats = _FLOATS[profile.dtype]
    if floats is not None:
        name = np.dtype(floats).name
        yield can_hide(f"computed in {name}", _compute_through(lambda x: x.astype(floats).astype(np.float64)))
    least, span = dtype.min, dtype.max - dtype.min + 1
    if least < 0:
        yield can_hide("inputs read as unsigned", _compute_through(lambda x: np.where(x < 0, x + span, x)))
    else:
        yield can_hide("inputs read as signed", _compute_through(lambda x: np.where(2 * x >= span, x - span, x)))
    yield can_hide("inputs negated", _compute_through(np.negative))


def _change_results(change: Change) -> Callable[[ReferenceCall], Arrays]:
    """Results of the case's dtype changed."""

    def results(call: ReferenceCall) -> Arrays:
        own = DTYPES[call.dtype].numpy
        return [y if y is None or y.dtype != own else change(y.astype(np.int64)).astype(own) for y in call.right]

    return results


def _wrap_digits(digits: int) -> Change:
    return lambda y: (y + 2**digits) % 2 ** (digits + 1) - 2**digits


def _clip_digits(digits: int) -> Change:
    return lambda y: np.clip(y, -(2**digits), 2**digits - 1)


def _compute_through(change: Change) -> Callable[[ReferenceCall], Arrays]:
    """The reference of other values of the data, in float64, its results cut to the dtype's bits."""

    def results(call: ReferenceCall) -> Arrays:
        own = DTYPES[call.dtype].numpy
        seen = [x if x is None or x.dtype != own else change(x.astype(np.float64)) for x in call.inputs]
        with np.errstate(all="ignore"):
            outputs = [np.asarray(y) for y in tuple_of(call.op.forward(*seen, **call.params))]
        return [y.astype(np.int64).astype(own) if y.dtype.kind == "f" else y for y in outputs]

    return results


def draw_mutants(profile: Profile) -> Iterator[Mutant]:
    """Mutants of one operator in one mode; of gradients those that draw anew are among the parameters' mutants."""
    if not profile.op.drawn_from or profile.mode != "forward":
        return
    for count in (32, 64, 256, 1024):
        again = lambda d, n=count: np.resize(d.reshape(-1)[:n], d.size).reshape(d.shape)  # noqa: E731
        yield Mutant(f"the draw repeats itself after {count}", _change_draw(again))
    for count in (256, 1024):
        yield Mutant(f"nothing drawn past the last whole {count}", _change_draw(_drop_rest(count)))
    yield Mutant("the first row's draw for every row", _change_draw(_repeat_part(lambda d: d[:1])))
    yield Mutant("one draw for a whole row", _change_draw(_repeat_part(lambda d: d[..., :1])))
    pairs = _change_draw(lambda d: np.repeat(d.reshape(-1)[::2], 2)[: d.size].reshape(d.shape))
    yield Mutant("one draw for two neighbours", pairs)
    yield Mutant("each draw the opposite of the one before", _change_draw(_flip_every_second))
    yield Mutant("drawn the wrong way round", _change_draw(np.logical_not))


def _change_draw(change: Change) -> Callable[[ReferenceCall], Arrays]:
    """The answer to the draw changed, which is the only output of truth values."""

    def results(call: ReferenceCall) -> Arrays:
        outputs = [d if d is None or d.dtype != np.bool_ or not d.size else change(d) for d in call.right]
        assert call.op.drawn is not None
        return call.again(inputs=call.op.drawn(tuple(outputs), *call.inputs, **call.params))

    return results


def _drop_rest(count: int) -> Change:
    def change(d: Array) -> Array:
        at = np.arange(d.size).reshape(d.shape)
        return d | (at >= d.size - d.size % count)

    return lambda d: d if d.size < count else change(d)


def _repeat_part(part: Callable[[Array], Array]) -> Change:
    """A part of a draw of several axes in place of all of it."""
    return lambda d: np.broadcast_to(part(d), d.shape).copy() if d.ndim > 1 else d


def _flip_every_second(d: Array) -> Array:
    flat = d.reshape(-1).copy()
    flat[1::2] = ~flat[: flat.size - 1 : 2]
    return flat.reshape(d.shape)
