"""Where the wrong elements are, and that nowhere else is one."""

from __future__ import annotations

from collections.abc import Iterator
from math import lgamma, log

import numpy as np

from opproof.harness.diagnose.regions import Mask, Region, floats, keys, known, thresholds
from opproof.harness.diagnose.wrong import BITS, Wrong
from opproof.harness.judge.bound import C
from opproof.vocabulary.dtypes import DTYPES

#: No exponential of a smaller number overflows, not even in f16.
_OVERFLOWS = 11.0


def only_there(w: Wrong) -> tuple[str, str] | None:
    """The region that the wrong elements fill best, all of them inside it, beyond chance."""
    best = _best(w, known(w)) or _best(w, thresholds(w))
    if best is None:
        return None
    return best.label, f"only {best.said} of {w.what} are wrong"


def as_good(w: Wrong) -> list[Region]:
    """The tails that hold the same elements as the region that fills best, which is one: other multiples of it."""
    best = _best(w, known(w))
    if best is None or best.label != "tail":
        return []
    return [r for r in known(w) if r.label == "tail" and np.array_equal(r.mask, best.mask)]


def _best(w: Wrong, regions: Iterator[Region]) -> Region | None:
    """Outside, every element must be right without doubt: an error that grows smoothly has no region."""
    best: tuple[float, Region] | None = None
    doubtful = w.failing | (w.units > (3 if DTYPES[w.dtype].digits < 24 else C / 2))
    unlike = bool((~np.isfinite(w.got) & np.isfinite(w.expected))[w.failing].all())
    for region in regions:
        if not 0 < region.mask.sum() < w.failing.size or (doubtful & ~region.mask).any():
            continue
        if region.label in ("large", "half") and not w.expected[~region.mask].any():
            continue  # zeros are expected outside, which any relative error leaves right
        filled = float(w.failing[region.mask].mean())
        bits = _evidence(region, w.failing) - region.cost
        if region.cost and filled < 1:  # where it begins is then a choice too
            bits -= log(w.failing.size) / log(2)
        if region.label in ("tail", "last", "first", "beyond first", "beyond") or (unlike and region.cost):
            least = 4.0 if filled == 1 else BITS
        else:
            least = 7.0 if filled == 1 and not region.cost else BITS
        if (
            filled >= (0.5 if region.cost or region.label == "half" else 0.2)
            and bits >= least
            and (best is None or filled > best[0])
        ):
            best = filled, region
    return None if best is None else best[1]


def _evidence(region: Region, failing: Mask) -> float:
    """-log2 of the chance that as many elements (or slices), drawn at random, all lie inside."""
    mask = region.mask
    if region.axis is not None:
        mask, failing = np.any(mask, axis=region.axis, keepdims=True), np.any(failing, axis=region.axis, keepdims=True)
    inside, wrong = int(mask.sum()), int(failing.sum())
    return _log2_choose(mask.size, wrong) - _log2_choose(inside, wrong)


def _log2_choose(n: int, k: int) -> float:
    return (lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)) / log(2)


def overflow(w: Wrong) -> str | None:
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
