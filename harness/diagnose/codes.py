"""Numbers rounded to codes: what becomes of halves, and of what is too large.

How a number was before it was rounded, no result says; but the same call with an input (a scale, say) a hair larger
moves every half away from zero, and with one a hair smaller towards it, and nothing else. And with an input of a
sixteenth, or of minus that, nothing is too large, and every code is a sixteenth of what it would be, to half a code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.core.verdicts import Mode
from opproof.harness.diagnose.where import log2_choose
from opproof.harness.diagnose.whole import Numbers, is_whole, numbers, stored
from opproof.harness.diagnose.wrong import BITS, Wrong

#: So many times smaller nothing is too large, and how far off its code is then at most, once it is enlarged again.
_SMALLER, _OFF = 16, 9
#: Bits of having four ways to round a half, and of evidence of an element as near as that to what wraps at 8 bits.
_WAYS, _EACH = 2.0, float(np.log2(256 / (2 * _OFF + 1)))


def halves(w: Wrong) -> str | None:
    """Right but for what lies halfway between two codes, all of which goes to one side."""
    u = 8 * DTYPES["f64"].u if w.case.dtype == "f64" else DTYPES["f32"].u
    for zero, times in _factors(w):
        away, toward = times(1 + u), times(1 - u)
        if away is None or toward is None or (np.abs(toward - zero) > np.abs(away - zero)).any():
            continue  # it divides, or the code has nothing to do with it
        ways = {
            "away from zero": away,
            "toward zero": toward,
            "up": np.maximum(away, toward),
            "down": np.minimum(away, toward),
        }
        found = [how for how, candidate in ways.items() if _explains(w, candidate)]
        if found:
            return f"{w.what} is right but for halves: they are rounded {' or '.join(found)}, not to even"
    return None


def _explains(w: Wrong, candidate: Numbers) -> bool:
    """Whether it is what is there, and no chance hit upon just these elements, or upon just these numbers."""
    if not np.array_equal(candidate, numbers(w, w.got)):
        return False
    return log2_choose(w.got.size, int(w.failing.sum())) >= BITS + _WAYS or w.fits(stored(w, candidate))


def wrapped(w: Wrong) -> str | None:
    """What is too large for a code has kept its low bits, where it is to become the largest or the least."""
    if not is_whole(w) or w.got.dtype != np.uint8 or w.failing.sum() * _EACH < BITS:
        return None
    expected, got = numbers(w, w.expected), numbers(w, w.got)
    least, largest = (-128, 127) if numbers(w, np.full(1, 255, np.uint8))[0] < 0 else (0, 255)
    for zero, times in _factors(w):
        small, mirrored = times(1 / _SMALLER), times(-1 / _SMALLER)
        if small is None or mirrored is None:
            continue
        there, opposite = small - zero, zero - mirrored  # one of which codes without a sign have not
        wide = zero + _SMALLER * np.where(np.abs(there) >= np.abs(opposite), there, opposite)
        beyond = ((expected == largest) & (wide > largest - _OFF)) | ((expected == least) & (wide < least + _OFF))
        off = (got - wide + 128) % 256 - 128
        if (beyond & (np.abs(off) <= _OFF))[w.failing].all():
            return f"{w.what} is wrapped around at 8 bits where it is to be saturated"
    return None


def _factors(w: Wrong) -> Iterator[tuple[Numbers, Callable[[float], Numbers | None]]]:
    """Of every input of floats the results where it is 0, and as a function of how many times larger it is."""
    if w.mode is not Mode.FORWARD or not is_whole(w) or w.got.dtype.kind == "f":
        return
    for i, v in enumerate(w.inputs):
        if v is None or v.dtype.kind != "f":
            continue

        def times(factor: float, i: int = i, v: Array = v) -> Numbers | None:
            found = w.again(inputs=w.inputs_with(i, v * factor))
            return None if found is None or found.dtype.kind not in "iu" else numbers(w, found)

        zero = times(0)
        if zero is not None:
            yield zero, times
