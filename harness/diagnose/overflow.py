"""NaN and infinities of an intermediate value that leaves the range of its dtype."""

from __future__ import annotations

import numpy as np

from opproof.core.dtypes import DTYPES
from opproof.harness.diagnose.regions import floats
from opproof.harness.diagnose.thresholds import keys
from opproof.harness.diagnose.wrong import MOST, Wrong

#: No exponential of a smaller number overflows, not even in f16.
_OVERFLOWS = 11.0


def large(w: Wrong) -> str | None:
    """NaN or infinity, where finite values are expected and inputs are large."""
    if w.expected.dtype.kind != "f":
        return None
    bad = w.failing & ~np.isfinite(w.got) & np.isfinite(w.expected)
    if not bad.any() or not (bad | (w.got == 0))[w.failing].all():
        return None
    for name, v in floats(w):
        if not np.isfinite(v).all() or np.abs(v).max(initial=0) < _OVERFLOWS:
            continue
        for said, key in ((f"|{name}|", np.abs(v)), (name, v)):
            for over, axis in keys(w, key):
                least, right = float(over[bad].min()), float(over[~w.failing].max(initial=-np.inf))
                if least >= _OVERFLOWS and (least >= right or w.failing.all()):
                    rows = "" if axis is None else "in rows "
                    return (
                        f"{w.what} is NaN or infinite {rows}where {said} ≥ {least:.4g}: an intermediate value overflows"
                    )
    return None


def exponentials(w: Wrong) -> str | None:
    """Rows whose largest number has no exponential in the range of a dtype: what follows is NaN, or has lost digits."""
    if w.expected.dtype.kind != "f" or w.got.size > MOST:
        return None
    bad = w.failing & ~np.isfinite(w.got) & np.isfinite(w.expected)
    for name in dict.fromkeys(("f32", w.dtype)):
        kind = DTYPES[name]
        most, least = np.log(kind.max), np.log(kind.tiny)
        for input_name, v in floats(w):
            for largest, axis in keys(w, v):
                over, under = largest >= most, largest <= least
                outside = over | under
                if axis is None or not (over & bad).any() or not outside[w.failing].all():
                    continue
                if (bad | (w.got == 0))[over].all():
                    return (
                        f"{w.what} is wrong in rows whose largest {input_name} is ≥ {most:.3g} or ≤ {least:.3g} alone, "
                        f"where exp leaves the range of {name}: as if the row's maximum were not subtracted"
                    )
    return None
