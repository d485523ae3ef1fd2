"""Integers off by one or a constant, wrapped, saturated, without their sign, or rounded otherwise to codes.

They are compared exactly, so what explains all wrong ones is no matter of rounding. Bytes that stand for numbers of 8
bits with a sign are looked at as these numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, Kind
from opproof.core.verdicts import Mode
from opproof.harness.diagnose import where
from opproof.harness.diagnose.where import log2_of_subsets
from opproof.harness.diagnose.wrong import MIN_EVIDENCE_BITS, WrongTensor

Numbers = NDArray[np.int64]

#: Bits of narrower numbers that arithmetic may be done in.
_NARROWER_BITS = (8, 16, 32)
#: How far apart expected numbers are at least, where being one off is telling.
_MIN_EXPECTED_RANGE = 16


def find_off_by_one(w: WrongTensor) -> str | None:
    """Every wrong element one too large or one too small; not of positions, which other patterns are about."""
    if not is_whole(w) or _of_positions(w):
        return None
    expected, error = read_numbers(w, w.expected), _errors_of(w)
    steps = np.unique(error[w.failing])
    if np.ptp(expected) < _MIN_EXPECTED_RANGE or not (np.abs(steps) == 1).all():
        return None
    if not w.fits(store_numbers(w, np.where(w.failing, expected + error, expected)), free=len(steps)):
        return None
    how = " or ".join(f"1 too {'large' if step > 0 else 'small'}" for step in steps[::-1])
    if w.failing.all():
        return f"every element of {w.what} is off by one: {how}"
    there = where.find_only_there(w)
    return f"the wrong elements of {w.what} are off by one: {how}{f'; {there[1]}' if there else ''}"


def find_added_integer(w: WrongTensor) -> str | None:
    """One number added to all elements; those past the largest go on from the least."""
    if not is_whole(w) or not w.failing.all():
        return None
    steps = np.unique(_errors_of(w))
    if len(steps) > 1 or not w.fits(store_numbers(w, read_numbers(w, w.expected) + steps[0]), free=1):
        return None
    return f"a constant is added to {w.what}: {steps[0]}"


def find_wrapped(w: WrongTensor) -> str | None:
    """Numbers that kept their low bits alone, read with a sign or without."""
    for bits in _list_narrower(w):
        expected, whole, half = read_numbers(w, w.expected), 2**bits, 2 ** (bits - 1)
        if w.fits(store_numbers(w, _interpret_signed(expected, bits))):
            return f"{w.what} is wrapped around at {bits} bits"
        if w.fits(store_numbers(w, expected % whole)):
            if (np.abs(expected[w.failing]) <= half).all():
                return f"{w.what} is taken as unsigned: -1 of {bits} bits is {whole - 1}"
            return f"{w.what} is wrapped around at {bits} bits, and taken as unsigned"
    return None


def find_saturated(w: WrongTensor) -> str | None:
    """Numbers that stop at the ends of a narrower dtype; the least of an unsigned one, 0, is not telling alone."""
    for bits in _list_narrower(w):
        for least, largest in ((-(2 ** (bits - 1)), 2 ** (bits - 1) - 1), (0, 2**bits - 1)):
            candidate = np.clip(read_numbers(w, w.expected), least, largest)
            ends = [end for end in (least, largest) if (candidate[w.failing] == end).any()]
            if ends not in ([], [0]) and w.fits(store_numbers(w, candidate)):
                return f"{w.what} is saturated at {' and '.join(map(str, ends))}, where a number of {bits} bits ends"
    return None


def find_lost_sign(w: WrongTensor) -> str | None:
    """Codes without their sign; of plain numbers the sign has a pattern of its own."""
    if not _of_signed_codes(w) or not w.fits(store_numbers(w, np.abs(read_numbers(w, w.expected)))):
        return None
    return f"{w.what} has lost its sign: its numbers are the absolute values of what is expected"


def is_whole(w: WrongTensor) -> bool:
    """Whether results are integers, not truth values."""
    return w.whole and w.expected.dtype.kind != "b" and w.got.dtype.kind in "iuf"


def read_numbers(w: WrongTensor, values: Array) -> Numbers:
    """What results of integers stand for, wide enough to count with."""
    wide = np.asarray(values).astype(np.int64)
    return _interpret_signed(wide, 8) if _of_signed_codes(w) else wide


def store_numbers(w: WrongTensor, values: Array) -> Array:
    """Numbers as the results hold them, in as many bits."""
    width = _width_of(w)
    if w.expected.dtype.kind == "f" and width < 64:
        whole = np.asarray(values).astype(np.int64)
        values = _interpret_signed(whole, width) if DTYPES[w.dtype].kind is Kind.SIGNED else whole % 2**width
    return values.astype(w.got.dtype)


def _errors_of(w: WrongTensor) -> Numbers:
    """How far off elements are, the largest number and one being the least."""
    return _interpret_signed(read_numbers(w, w.got) - read_numbers(w, w.expected), _width_of(w))


def _interpret_signed(values: Numbers, bits: int) -> Numbers:
    if bits == 64:
        return values
    return np.asarray((values + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1))


def _width_of(w: WrongTensor) -> int:
    """Bits of a result: those of a case's dtype lie in float64 here."""
    return 8 * (w.got if w.got.dtype.kind in "iu" else np.empty(0, DTYPES[w.dtype].numpy)).dtype.itemsize


def _of_signed_codes(w: WrongTensor) -> bool:
    return is_whole(w) and w.got.dtype == np.uint8 and w.params.get("type") == "i8"


def _list_narrower(w: WrongTensor) -> list[int]:
    """Bits of numbers that are narrower than the results."""
    return [bits for bits in _NARROWER_BITS if bits < _width_of(w)] if is_whole(w) else []


def _of_positions(w: WrongTensor) -> bool:
    """Whether results are of 64 bits and all of them positions in an input: no dtype of a case has so many."""
    most = max((v.size for v in w.inputs if v is not None), default=0)
    inside = (w.expected >= 0).all() and (w.expected < most).all()
    return bool(_width_of(w) == 64 and inside)


#: So many times smaller nothing is too large, and how far off its code is then at most, once it is enlarged again.
_SHRINK_FACTOR = 16
_MAX_CODE_ERROR = 9
#: Bits of having four ways to round a half, and of evidence of an element as near as that to what wraps at 8 bits.
_ROUNDING_WAYS_BITS, _WRAP_EVIDENCE_BITS = 2.0, float(np.log2(256 / (2 * _MAX_CODE_ERROR + 1)))


def find_rounded_halves(w: WrongTensor) -> str | None:
    """Right but for what lies halfway between two codes, all of which goes to one side.

    The same call with an input (a scale, say) a hair larger moves every half away from zero, and with one a hair
    smaller towards it, and nothing else.
    """
    u = 8 * DTYPES["f64"].u if w.case.dtype == "f64" else DTYPES["f32"].u
    for zero, times in _iter_factors(w):
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


def _explains(w: WrongTensor, candidate: Numbers) -> bool:
    """Whether it is what is there, and no chance hit upon just these elements, or upon just these numbers."""
    if not np.array_equal(candidate, read_numbers(w, w.got)):
        return False
    return log2_of_subsets(w.got.size, int(w.failing.sum())) >= MIN_EVIDENCE_BITS + _ROUNDING_WAYS_BITS or w.fits(
        store_numbers(w, candidate)
    )


def find_wrapped_codes(w: WrongTensor) -> str | None:
    """What is too large for a code has kept its low bits, where it is to become the largest or the least."""
    if not is_whole(w) or w.got.dtype != np.uint8 or w.failing.sum() * _WRAP_EVIDENCE_BITS < MIN_EVIDENCE_BITS:
        return None
    expected, got = read_numbers(w, w.expected), read_numbers(w, w.got)
    least, largest = (-128, 127) if read_numbers(w, np.full(1, 255, np.uint8))[0] < 0 else (0, 255)
    for zero, times in _iter_factors(w):
        small, mirrored = times(1 / _SHRINK_FACTOR), times(-1 / _SHRINK_FACTOR)
        if small is None or mirrored is None:
            continue
        there, opposite = small - zero, zero - mirrored  # one of which codes without a sign have not
        wide = zero + _SHRINK_FACTOR * np.where(np.abs(there) >= np.abs(opposite), there, opposite)
        beyond = ((expected == largest) & (wide > largest - _MAX_CODE_ERROR)) | (
            (expected == least) & (wide < least + _MAX_CODE_ERROR)
        )
        off = (got - wide + 128) % 256 - 128
        if (beyond & (np.abs(off) <= _MAX_CODE_ERROR))[w.failing].all():
            return f"{w.what} is wrapped around at 8 bits where it is to be saturated"
    return None


def _iter_factors(w: WrongTensor) -> Iterator[tuple[Numbers, Callable[[float], Numbers | None]]]:
    """Of every input of floats the results where it is 0, and as a function of how many times larger it is."""
    if w.mode is not Mode.FORWARD or not is_whole(w) or w.got.dtype.kind == "f":
        return
    for i, v in enumerate(w.inputs):
        if v is None or v.dtype.kind != "f":
            continue

        def times(factor: float, i: int = i, v: Array = v) -> Numbers | None:
            found = w.again(inputs=w.with_input(i, v * factor))
            return None if found is None or found.dtype.kind not in "iu" else read_numbers(w, found)

        zero = times(0)
        if zero is not None:
            yield zero, times


def find_unsigned(w: WrongTensor) -> str | None:
    """An input, or all that have a sign, taken as unsigned or without their sign."""
    kind = DTYPES[w.case.dtype]
    if not is_whole(w) or kind.kind is not Kind.SIGNED:
        return None
    signed = [i for i, v in enumerate(w.inputs) if v is not None and v.dtype.kind == "f" and (v < 0).any()]
    for which in dict.fromkeys([*((i,) for i in signed), tuple(signed)]) if signed else ():
        names = " and ".join(str(w.names[i]) for i in which)
        for how, said in _iter_readings(int(2 * (kind.max + 1))):
            read = w.again(inputs=[how(v) if i in which and v is not None else v for i, v in enumerate(w.inputs)])
            if read is not None and w.fits(store_numbers(w, read)):
                return f"{w.what} is right for {said.format(names)}"
    return None


def _iter_readings(whole: int) -> Iterator[tuple[Callable[[Array], Array], str]]:
    yield lambda v: v % whole, f"{{}} taken as unsigned: -1 is {whole - 1}"
    yield np.abs, "the absolute values of {}"
