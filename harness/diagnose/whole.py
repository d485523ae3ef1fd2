"""Whole numbers: off by one or by a constant, wrapped around or saturated at fewer bits, without their sign.

They are compared exactly, so what explains all wrong ones is no matter of rounding. Bytes that stand for numbers of 8
bits with a sign are looked at as these numbers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, Kind
from opproof.harness.diagnose import where
from opproof.harness.diagnose.wrong import Wrong

Numbers = NDArray[np.int64]

#: Bits of narrower numbers that arithmetic may be done in.
_BITS = (8, 16, 32)
#: How far apart expected numbers are at least, where being one off is telling.
_RANGE = 16


def off_by_one(w: Wrong) -> str | None:
    """Every wrong element one too large or one too small; not of positions, which other patterns are about."""
    if not is_whole(w) or _of_positions(w):
        return None
    expected, error = numbers(w, w.expected), _errors(w)
    steps = np.unique(error[w.failing])
    if np.ptp(expected) < _RANGE or not (np.abs(steps) == 1).all():
        return None
    if not w.fits(stored(w, np.where(w.failing, expected + error, expected)), free=len(steps)):
        return None
    how = " or ".join(f"1 too {'large' if step > 0 else 'small'}" for step in steps[::-1])
    if w.failing.all():
        return f"every element of {w.what} is off by one: {how}"
    there = where.only_there(w)
    return f"the wrong elements of {w.what} are off by one: {how}{f'; {there[1]}' if there else ''}"


def constant_added(w: Wrong) -> str | None:
    """One number added to all elements; those past the largest go on from the least."""
    if not is_whole(w) or not w.failing.all():
        return None
    steps = np.unique(_errors(w))
    if len(steps) > 1 or not w.fits(stored(w, numbers(w, w.expected) + steps[0]), free=1):
        return None
    return f"a constant is added to {w.what}: {steps[0]}"


def wrapped(w: Wrong) -> str | None:
    """Numbers that kept their low bits alone, read with a sign or without."""
    for bits in _narrower(w):
        expected, whole, half = numbers(w, w.expected), 2**bits, 2 ** (bits - 1)
        if w.fits(stored(w, _signed(expected, bits))):
            return f"{w.what} is wrapped around at {bits} bits"
        if w.fits(stored(w, expected % whole)):
            if (np.abs(expected[w.failing]) <= half).all():
                return f"{w.what} is taken as unsigned: -1 of {bits} bits is {whole - 1}"
            return f"{w.what} is wrapped around at {bits} bits, and taken as unsigned"
    return None


def saturated(w: Wrong) -> str | None:
    """Numbers that stop at the ends of a narrower dtype; the least of an unsigned one, 0, is not telling alone."""
    for bits in _narrower(w):
        for least, largest in ((-(2 ** (bits - 1)), 2 ** (bits - 1) - 1), (0, 2**bits - 1)):
            candidate = np.clip(numbers(w, w.expected), least, largest)
            ends = [end for end in (least, largest) if (candidate[w.failing] == end).any()]
            if ends not in ([], [0]) and w.fits(stored(w, candidate)):
                return f"{w.what} is saturated at {' and '.join(map(str, ends))}, where a number of {bits} bits ends"
    return None


def sign_lost(w: Wrong) -> str | None:
    """Codes without their sign; of plain numbers the sign has a pattern of its own."""
    if not _of_signed_codes(w) or not w.fits(stored(w, np.abs(numbers(w, w.expected)))):
        return None
    return f"{w.what} has lost its sign: its numbers are the absolute values of what is expected"


def is_whole(w: Wrong) -> bool:
    """Whether results are whole numbers, not truth values."""
    return w.whole and w.expected.dtype.kind != "b" and w.got.dtype.kind in "iuf"


def numbers(w: Wrong, values: Array) -> Numbers:
    """What results of whole numbers stand for, wide enough to count with."""
    wide = np.asarray(values).astype(np.int64)
    return _signed(wide, 8) if _of_signed_codes(w) else wide


def stored(w: Wrong, values: Array) -> Array:
    """Numbers as the results hold them, in as many bits."""
    width = _width(w)
    if w.expected.dtype.kind == "f" and width < 64:
        whole = np.asarray(values).astype(np.int64)
        values = _signed(whole, width) if DTYPES[w.dtype].kind is Kind.SIGNED else whole % 2**width
    return values.astype(w.got.dtype)


def _errors(w: Wrong) -> Numbers:
    """How far off elements are, the largest number and one being the least."""
    return _signed(numbers(w, w.got) - numbers(w, w.expected), _width(w))


def _signed(values: Numbers, bits: int) -> Numbers:
    """The low bits of numbers, in two's complement."""
    if bits == 64:
        return values
    return np.asarray((values + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1))


def _width(w: Wrong) -> int:
    """Bits of a result: those of a case's dtype lie in float64 here."""
    return 8 * (w.got if w.got.dtype.kind in "iu" else np.empty(0, DTYPES[w.dtype].numpy)).dtype.itemsize


def _of_signed_codes(w: Wrong) -> bool:
    return is_whole(w) and w.got.dtype == np.uint8 and w.params.get("type") == "i8"


def _narrower(w: Wrong) -> list[int]:
    """Bits of numbers that are narrower than the results."""
    return [bits for bits in _BITS if bits < _width(w)] if is_whole(w) else []


def _of_positions(w: Wrong) -> bool:
    """Whether results are of 64 bits and all of them positions in an input: no dtype of a case has so many."""
    most = max((v.size for v in w.inputs if v is not None), default=0)
    inside = (w.expected >= 0).all() and (w.expected < most).all()
    return bool(_width(w) == 64 and inside)
