"""Where numbers leave a range on the way: squares that overflow or vanish, masks that are more than one bit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from opproof.cases._uneven import TRUTHS
from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.harness.diagnose.region import Region, broadcasts
from opproof.harness.diagnose.wrong import Wrong


def out_of_range(w: Wrong, arrays: Sequence[tuple[str, Array]]) -> Iterator[Region]:
    """Elements of which the squares are past the largest number of a dtype, or below its smallest normal one."""
    shape = w.got.shape
    if not arrays or not all(broadcasts(v.shape, shape) for _, v in arrays):
        return
    largest: Array = np.max([np.broadcast_to(np.abs(v), shape) for _, v in arrays], axis=0)
    names = " and ".join(name for name, _ in arrays)
    for kind in dict.fromkeys((w.dtype, "f32")):
        most, least = (np.sqrt(getattr(DTYPES[kind], end)) for end in ("max", "tiny"))
        above = (largest > most) & np.isfinite(largest)  # of an infinity no square is what overflows
        below = (largest < least) & (largest > 0)
        for said, mask in (
            (f"past {most:.1e}, whose squares overflow in {kind}", above),
            (f"past {most:.1e} or below {least:.1e}, whose squares {kind} does not hold", above | below),
        ):
            yield Region("special", f"the elements where {names} are {said},", mask)


def truths(w: Wrong) -> Iterator[Region]:
    """Elements where a mask is true, and is not 1."""
    for name, v in zip(w.names, w.inputs, strict=True) if w.case.fill == TRUTHS else ():
        if v is None or v.dtype.kind not in "iu" or not broadcasts(v.shape, w.got.shape):
            continue
        for said, mask in (
            ("neither 0 nor 1", (v != 0) & (v != 1)),
            ("even and not 0", (v != 0) & (v % 2 == 0)),
            ("negative", v < 0),
            ("below 0 or past 127", (v < 0) | (v > 127)),
            ("a multiple of 256 and not 0", (v != 0) & (v % 256 == 0)),
        ):
            yield Region("special", f"the elements where {name} is {said}", np.broadcast_to(mask, w.got.shape))
