"""Right for a parameter of fewer digits than it has: NumPy 2 rounds a Python float beside a float16, as kernels may."""

from __future__ import annotations

import math

import numpy as np

from opproof.cases._case import format_param
from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, round_to
from opproof.harness.diagnose.wrong import MOST, Wrong

#: Elements that are stored to another number because of it, at least, and the share of them that came so.
_FEWEST, _SHARE = 10, 0.95


def parameter_rounded(w: Wrong) -> str | None:
    """By one factor for all: within the bound of every element, and the store then seems to round to one side."""
    if w.expected.dtype.kind != "f" or w.got.size > MOST:
        return None
    for name, now in w.params.items():
        if not isinstance(now, float) or not math.isfinite(now):
            continue
        for dtype in ("f16", "bf16"):
            value = float(round_to(np.float64(now), DTYPES[dtype]))
            if value == now or not math.isfinite(value) or DTYPES[dtype].digits > DTYPES[w.dtype].digits:
                continue
            params = {**w.params, name: value}
            if _is_stored(w, w.again(params=params)) or (w.failing.any() and w.explained(params=params)):
                instead = f"{format_param(value)} in place of {format_param(now)}"
                return f"{w.what} is that of {name} rounded to {dtype}, {instead}"
    return None


def _is_stored(w: Wrong, candidate: Array | None) -> bool:
    """Whether elements of 16 bits that are another number in `candidate` are that one."""
    if candidate is None or candidate.shape != w.got.shape or not DTYPES[w.dtype].narrow:
        return False
    this, other = (round_to(v, DTYPES[w.dtype]) for v in (candidate, w.expected))
    telling = np.isfinite(this) & np.isfinite(other) & (this != other)
    return bool(telling.sum() >= _FEWEST and np.mean((w.got == this)[telling]) >= _SHARE)
