"""Mutants that take inputs, indices, cotangents or saved outputs for others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from opproof.cases._fills import NOT_FINITE
from opproof.core.arrays import Array
from opproof.harness.prove.mutation.arrays import Arrays, is_float, is_number, on_floats, same_bits
from opproof.harness.prove.mutation.call import Call
from opproof.harness.prove.mutation.mutant import Mutant, Profile
from opproof.reference_ops._codes import PER_BYTE, decode

Change = Callable[[Array], Array]


def mutants(profile: Profile) -> Iterator[Mutant]:
    """Mutants of one operator in one mode."""
    for i in sorted(profile.floats):
        name = profile.inputs[i]
        yield Mutant(f"{name} taken for zeros", _with(i, np.zeros_like), must_show=i in profile.read)
        for width in (8, 32):
            yield Mutant(
                f"inner axis of {name} past a multiple of {width} dropped", _with(i, _tail(width)), must_show=False
            )
        yield Mutant(f"last row of {name} dropped", _with(i, _last_row), must_show=False)
        if name in profile.op.optional:
            yield Mutant(f"{name} ignored", _absent(i))
    for i, j in profile.pairs():
        yield Mutant(f"{profile.inputs[i]} and {profile.inputs[j]} swapped", _swapped(i, j), must_show=False)
    if profile.read and any(case.fill in NOT_FINITE for case in profile.cases):
        yield Mutant("NaN taken for 0", _without_nan(profile.inputs))
        yield Mutant("infinity taken for the largest number", _finite, must_show=False)
    yield from _indices()


def _with(i: int, change: Change) -> Callable[[Call], Arrays]:
    """The honest answer to other values of argument `i`; aliases of it change too."""

    def results(call: Call) -> Arrays:
        if i >= len(call.inputs) or not is_number(call.inputs[i]):
            return call.right
        x = call.inputs[i]
        assert x is not None
        y = change(x.copy())
        return call.right if same_bits([x], [y]) else call.again(inputs=[y if v is x else v for v in call.inputs])

    return results


def _tail(width: int) -> Change:
    def change(x: Array) -> Array:
        n = x.shape[-1] if x.ndim else 0
        if n > width:
            x[..., n - n % width :] = 0
        return x

    return change


def _last_row(x: Array) -> Array:
    if x.ndim > 1 and len(x) > 1:
        x[-1] = 0
    return x


def _absent(i: int) -> Callable[[Call], Arrays]:
    def results(call: Call) -> Arrays:
        if i >= len(call.inputs) or call.inputs[i] is None:
            return call.right
        found = call.again(inputs=[*call.inputs[:i], None, *call.inputs[i + 1 :]])
        if call.cotangents is None:
            return found
        return [r if w is None or f is None else f for f, w, r in zip(found, call.right, call.right, strict=True)]

    return results


def _swapped(i: int, j: int) -> Callable[[Call], Arrays]:
    def results(call: Call) -> Arrays:
        if j >= len(call.inputs):
            return call.right
        a, b = call.inputs[i], call.inputs[j]
        if a is None or b is None or a.shape != b.shape:
            return call.right
        moved = list(call.inputs)
        moved[i], moved[j] = b, a
        return call.again(inputs=moved)

    return results


def _without_nan(names: Sequence[str]) -> Callable[[Call], Arrays]:
    """Numbers that are NaN, and bytes that are its codes."""

    def results(call: Call) -> Arrays:
        moved = on_floats(lambda x: np.where(np.isnan(x), 0, x), call.inputs)
        for i, name in enumerate(names[: len(moved)]):
            x, kind = moved[i], str(call.params.get("scales" if name == "scale" else "type"))
            if x is not None and x.dtype == np.uint8 and PER_BYTE.get(kind) == 1:
                moved[i] = np.where(np.isnan(decode(x, kind)), 0, x).astype(np.uint8)
        return call.right if same_bits(moved, call.inputs) else call.again(inputs=moved)

    return results


def _finite(call: Call) -> Arrays:
    def change(x: Array | None) -> Array | None:
        if x is None or not is_float(x) or not np.isinf(x.astype(np.float64)).any():
            return x
        largest = np.array(65504.0 if x.dtype.itemsize == 2 else 3e38)
        values = x.astype(np.float64)
        return np.where(np.isinf(values), np.sign(values) * largest, values).astype(x.dtype)

    return call.again(inputs=[change(x) for x in call.inputs])


def _indices() -> Iterator[Mutant]:
    """Indices that are taken for sorted, for all alike; none where the operator has no indices."""

    def of(name: str, change: Change) -> Mutant:
        def results(call: Call) -> Arrays:
            whole = [x is not None and x.dtype == np.int64 and x.size > 0 for x in call.inputs]
            if not any(whole):
                return call.right
            return call.again(
                inputs=[change(x) if w and x is not None else x for x, w in zip(call.inputs, whole, strict=True)]
            )

        return Mutant(name, results, must_show=False)

    yield of("indices taken for sorted", lambda x: np.sort(x, axis=-1) if x.ndim else x)
    yield of("first index for all", lambda x: np.full_like(x, x.flat[0]))
    yield of("indices one less", lambda x: np.maximum(x - 1, 0))
