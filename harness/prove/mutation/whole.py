"""Mutants of whole numbers: computed in floats, in fewer bits, with the sign taken for a digit or a digit for the sign.

Data of such cases are drawn so that results fit, and what arithmetic passes through on its way to them: what overflows
here overflows nothing that an honest kernel computes in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from opproof.core.arrays import Array, tuple_of
from opproof.core.dtypes import DTYPES
from opproof.harness.prove.mutation.arrays import Arrays
from opproof.harness.prove.mutation.call import Call
from opproof.harness.prove.mutation.mutant import Mutant, Profile

Change = Callable[[Array], Array]

#: By dtype, floats that do not hold all of its numbers, and in which a library may compute what it should in integers.
_FLOATS = {"i32": np.float32, "i16": np.float16, "i8": None, "u8": None}


def mutants(profile: Profile) -> Iterator[Mutant]:
    """Mutants of one operator in one mode."""
    dtype = DTYPES[profile.dtype]
    if not dtype.whole or profile.mode != "forward" or not profile.discrete:
        return
    digits = dtype.digits // 2
    yield Mutant(f"results of {digits} bits, the rest cut off", _results(_wrapped(digits)), must_show=False)
    yield Mutant(f"results of {digits} bits, larger ones at the end", _results(_clipped(digits)), must_show=False)
    floats = _FLOATS[profile.dtype]
    if floats is not None:
        name = np.dtype(floats).name
        yield Mutant(f"computed in {name}", _through(lambda x: x.astype(floats).astype(np.float64)), must_show=False)
    least, span = dtype.min, dtype.max - dtype.min + 1
    if least < 0:
        yield Mutant("inputs read as unsigned", _through(lambda x: np.where(x < 0, x + span, x)), must_show=False)
    else:
        yield Mutant("inputs read as signed", _through(lambda x: np.where(2 * x >= span, x - span, x)), must_show=False)
    yield Mutant("inputs negated", _through(np.negative), must_show=False)


def _results(change: Change) -> Callable[[Call], Arrays]:
    """Results of the case's dtype changed."""

    def results(call: Call) -> Arrays:
        own = DTYPES[call.dtype].numpy
        return [y if y is None or y.dtype != own else change(y.astype(np.int64)).astype(own) for y in call.right]

    return results


def _wrapped(digits: int) -> Change:
    return lambda y: (y + 2**digits) % 2 ** (digits + 1) - 2**digits


def _clipped(digits: int) -> Change:
    return lambda y: np.clip(y, -(2**digits), 2**digits - 1)


def _through(change: Change) -> Callable[[Call], Arrays]:
    """The reference of other values of the data, in float64, its results cut to the dtype's bits."""

    def results(call: Call) -> Arrays:
        own = DTYPES[call.dtype].numpy
        seen = [x if x is None or x.dtype != own else change(x.astype(np.float64)) for x in call.inputs]
        with np.errstate(all="ignore"):
            outputs = [np.asarray(y) for y in tuple_of(call.op.forward(*seen, **call.params))]
        return [y.astype(np.int64).astype(own) if y.dtype.kind == "f" else y for y in outputs]

    return results
