"""Mutants of gradients: cotangents taken for others, saved outputs ignored, sums over axes and indices lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from mutation.mutant import Arrays, Change, Mutant, Profile, ReferenceCall, can_hide, is_float
from opproof.core.arrays import Array


def gradient_mutants(profile: Profile) -> Iterator[Mutant]:
    """Mutants of one operator in one mode; none in forward mode."""
    if profile.mode == "forward":
        return
    if profile.moving:
        yield Mutant("cotangent of ones", _change_cotangents(np.ones_like))
        if profile.cotangent_rank:
            yield Mutant(
                "cotangent constant", _change_cotangents(lambda g: np.full_like(g, g.flat[0]) if g.size else g)
            )
            yield can_hide("first row of the cotangent for all", _change_cotangents(_repeat_row(slice(1))))
            yield can_hide("last row of the cotangent for all", _change_cotangents(_repeat_row(slice(-1, None))))
    yield can_hide("saved output taken for zeros", _change_saved(np.zeros_like))
    yield can_hide("saved output taken for ones", _change_saved(np.ones_like))
    yield can_hide("derivative at the output", _at_output)
    if len(profile.graded) > 1:
        yield Mutant("gradients in the order of the inputs that need one", _compress_gradients)


def _change_cotangents(change: Change) -> Callable[[ReferenceCall], Arrays]:
    def results(call: ReferenceCall) -> Arrays:
        assert call.cotangents is not None
        return call.again(cotangents=[None if g is None else change(g) for g in call.cotangents])

    return results


def _repeat_row(row: slice) -> Change:
    return lambda g: np.repeat(g[row], len(g), axis=0) if g.ndim else g


def _change_saved(change: Change) -> Callable[[ReferenceCall], Arrays]:
    def results(call: ReferenceCall) -> Arrays:
        vjp = call.op.vjp
        assert vjp is not None

        def with_changed(g: Any, y: Any, *tensors: Any, **params: Any) -> Any:
            other = tuple(map(change, y)) if isinstance(y, tuple) else change(y)
            return vjp(g, other, *tensors, **params)

        return call.again(op=replace(call.op, vjp=with_changed))

    return results


def _at_output(call: ReferenceCall) -> Arrays:
    y = call.again(cotangents=None)[0]
    x = call.inputs[0]
    if x is None or y is None or y.shape != x.shape or not is_float(y):
        return call.right
    return call.again(inputs=[y, *call.inputs[1:]])


def _compress_gradients(call: ReferenceCall) -> Arrays:
    """Gradients of the first arguments stand where those of the needed ones belong."""
    if all(call.needs[i] for i in range(len(call.needs)) if is_float(call.inputs[i])):
        return call.right
    every = call.again(needs=[is_float(x) for x in call.inputs])
    given = iter([d for d in every if d is not None])
    return [next(given) if need else None for need in call.needs]


def sum_mutants(profile: Profile) -> Iterator[Mutant]:
    """Mutants of one operator in one mode."""
    if profile.mode == "gradient" and len(profile.floats) > 1:
        yield can_hide("broadcast gradient: first slice", _skip_sum(0))
        yield can_hide("broadcast gradient: last slice", _skip_sum(-1))
        yield can_hide("broadcast gradient: mean for sum", _skip_sum(None))
    if profile.op.repeats(profile.mode):
        yield can_hide("repeated indices overwrite", _overwrite_repeats)


def _skip_sum(end: int | None) -> Callable[[ReferenceCall], Arrays]:
    """Gradients of tensors that were broadcast: one slice, or the mean, in place of the sum."""

    def results(call: ReferenceCall) -> Arrays:
        right = call.right
        wide = _broadcast(call)
        if wide is None:
            return right
        full = call.again(inputs=wide)
        return [
            d if d is None or w is None or w.shape == d.shape else _fold_axes(w, d, end)
            for d, w in zip(right, full, strict=True)
        ]

    return results


def _broadcast(call: ReferenceCall) -> list[Any] | None:
    """The tensors in their common shape; None where they do not broadcast, or need not."""
    shapes = [x.shape for x in call.inputs if x is not None]
    try:
        common = np.broadcast_shapes(*shapes)
    except ValueError:
        return None
    if all(s == common for s in shapes) or (call.right[0] is None and len(shapes) < 2):
        return None
    outputs = call.again(cotangents=None)
    if len(outputs) != 1 or outputs[0] is None or outputs[0].shape != common:
        return None
    return [None if x is None else np.broadcast_to(x, common) for x in call.inputs]


def _fold_axes(wide: Array, narrow: Array, end: int | None) -> Array:
    lead = wide.ndim - narrow.ndim
    axes = [*range(lead), *(lead + a for a, n in enumerate(narrow.shape) if n == 1 and wide.shape[lead + a] != 1)]
    if not all(wide.shape[a] for a in axes):
        return narrow
    values = wide.astype(np.float64)
    for a in axes:
        values = values.mean(axis=a, keepdims=True) if end is None else np.take(values, [end], axis=a)
    return values.reshape(narrow.shape).astype(narrow.dtype)


def _overwrite_repeats(call: ReferenceCall) -> Arrays:
    """Only the last of several contributions to one place arrives: of cotangents, or of what the index stands before.

    Where nothing stands behind the index, the first input is what is added.
    """
    where = next(i for i, x in enumerate(call.inputs) if x is not None and x.dtype.kind == "i")
    index = call.inputs[where]
    assert index is not None
    if call.cotangents is not None:
        return call.again(cotangents=[None if g is None else _keep_last_only(g, index, call) for g in call.cotangents])
    source = where + 1 if where + 1 < len(call.inputs) else 0
    values = call.inputs[source]
    assert values is not None
    kept = _keep_last_only(values, index, call)
    return call.again(inputs=[kept if i == source else x for i, x in enumerate(call.inputs)])


def _keep_last_only(values: Array, index: Array, call: ReferenceCall) -> Array:
    """`values` with zeros where a later index is the same."""
    if "dim" in call.params and index.ndim == values.ndim > 1:  # an index for each element, not for each row
        dim = call.params["dim"]
        moved, kept = np.moveaxis(index, dim, 0), np.moveaxis(values.copy(), dim, 0)
        for k in range(len(moved)):
            again = (moved[k + 1 :] == moved[k]).any(axis=0)
            part = kept[k][tuple(slice(n) for n in again.shape)]
            part[again] = 0
        return np.moveaxis(kept, 0, dim)
    flat = index.reshape(-1)
    later = np.array([(flat[k + 1 :] == flat[k]).any() for k in range(flat.size)], dtype=bool)
    if "dim" in call.params:
        kept = np.moveaxis(values.copy(), call.params["dim"], 0)
        kept[later] = 0
        return np.moveaxis(kept, 0, call.params["dim"])
    kept = values.copy()
    kept[later.reshape(index.shape)] = 0
    return kept
