"""Mutants that compute in less precision than they may: rounded inputs, rounded results, low accumulation."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, round_to
from opproof.harness.prove.mutation.arrays import Arrays, changed, on_floats
from opproof.harness.prove.mutation.call import Call
from opproof.harness.prove.mutation.low import accumulated
from opproof.harness.prove.mutation.mutant import Mutant, Profile, of_results

Change = Callable[[Array], Array]

#: The dtypes in which a library may do, by mistake, what it should do in this one.
LOWER = {"f32": ("bf16", "f16"), "f16": ("bf16",), "f8e4m3": ("f8e5m2",)}


def mutants(profile: Profile) -> Iterator[Mutant]:
    """Mutants of one operator in one mode."""
    if not profile.moving and profile.mode == "gradient":
        return
    rounds, asked = not profile.op.is_exact(profile.mode), profile.floats & profile.read or profile.mode == "gradient"
    for name in LOWER.get(profile.dtype, ()) if asked else ():
        yield Mutant(f"inputs rounded to {name}", _inputs(_rounded(name)))
        if profile.moving:
            yield of_results(f"results rounded to {name}", _rounded(name))
        yield from _one_input(profile, name)
    if asked and profile.moving and rounds and profile.dtype != "f32":
        yield Mutant(f"sums accumulated in {profile.dtype}", accumulated(profile.dtype), must_show=False)
    if profile.dtype == "f32" and profile.op.multilinear and len(profile.floats) > 1 and rounds:
        yield Mutant("inputs truncated to tf32", _inputs(_tf32))


def _one_input(profile: Profile, name: str) -> Iterator[Mutant]:
    """One input comes in less precision than the others: its conversion was forgotten."""
    if len(profile.floats) + (profile.mode == "gradient") < 2:
        return
    for i in sorted(profile.floats):
        yield Mutant(f"{profile.inputs[i]} alone rounded to {name}", _one(i, _rounded(name)), must_show=False)
    if profile.mode == "gradient":
        yield Mutant(f"the cotangent alone rounded to {name}", _cotangent(_rounded(name)), must_show=False)


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


def _one(i: int, change: Change) -> Callable[[Call], Arrays]:
    return lambda call: call.again(inputs=[changed(x, change) if k == i else x for k, x in enumerate(call.inputs)])


def _cotangent(change: Change) -> Callable[[Call], Arrays]:
    def results(call: Call) -> Arrays:
        assert call.cotangents is not None
        return call.again(cotangents=on_floats(change, call.cotangents))

    return results
