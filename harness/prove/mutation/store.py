"""Mutants of the last step, in which a result is stored: scaled by a little, truncated, half an ulp off.

They change what the reference computed, before it is rounded to the dtype of the case, as a kernel would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, Dtype, round_to
from opproof.harness.prove.mutation.arrays import Arrays
from opproof.harness.prove.mutation.call import Call
from opproof.harness.prove.mutation.mutant import Mutant, Profile

Wide = NDArray[np.float64]
Change = Callable[[Wide, Dtype], Wide]

#: Factors that a judge of the dtype must see. 0.2 % is less than half a spacing of bf16: there it is honest.
FACTORS = {
    "f32": ("1.02", "1 + 2^-20"),
    "f16": ("1.02", "1.005", "1.003", "1.002"),
    "bf16": ("1.02",),
    "f8e4m3": ("1.5",),
    "f8e5m2": ("2",),
}


def mutants(profile: Profile) -> Iterator[Mutant]:
    """Mutants of one operator in one mode."""
    if not profile.moving:
        return
    for text in FACTORS[profile.dtype]:
        yield Mutant(f"times {text} before it is stored", _stored(_times(text)))
    if profile.dtype != "f32":
        yield Mutant("truncated where it is stored", _stored(truncated), must_show=False)
        yield Mutant("half an ulp more before it is stored", _stored(lambda y, d: y + half_ulp(y, d)), must_show=False)
        yield Mutant("half an ulp less before it is stored", _stored(lambda y, d: y - half_ulp(y, d)), must_show=False)


def _times(text: str) -> Change:
    factor = 1 + 2.0**-20 if text == "1 + 2^-20" else float(text)
    return lambda y, _: y * factor


def truncated(y: Wide, dtype: Dtype) -> Wide:
    """`y` with the digits cut off that `dtype` has no room for."""
    with np.errstate(all="ignore"):
        step = 2 * half_ulp(y, dtype)
        return np.where(np.isfinite(y) & (y != 0), np.trunc(y / step) * step, y)


def half_ulp(y: Wide, dtype: Dtype) -> Wide:
    """Half the spacing of `dtype` at `y`, with the sign of `y`; 0 for 0, NaN and infinity."""
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(y)
        spacing = np.ldexp(1.0, np.maximum(exponent, dtype.min_exponent + 1) - dtype.digits)
        return np.where(np.isfinite(y), np.sign(y) * spacing / 2, 0.0)


def _stored(change: Change) -> Callable[[Call], Arrays]:
    def results(call: Call) -> Arrays:
        dtype = DTYPES[call.dtype]
        return [y if y is None or y.dtype.kind != "f" else _in(dtype, y, change) for y in call.exact]

    return results


def _in(dtype: Dtype, y: Array, change: Change) -> Array:
    return np.asarray(round_to(change(y.astype(np.float64), dtype), dtype)).astype(dtype.numpy)
