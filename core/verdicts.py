"""The words of records: verdicts, modes, levels, destinations, kinds of diagnoses, cases beyond the memory limit."""

from __future__ import annotations

import math
import re
from enum import StrEnum


class Verdict(StrEnum):
    """What became of one case in one mode."""

    PASS = "PASS"
    WRONG_VALUE = "WRONG_VALUE"
    WRONG_GRADIENT = "WRONG_GRADIENT"
    WRONG_SHAPE = "WRONG_SHAPE"
    WRONG_DTYPE = "WRONG_DTYPE"
    NOT_WRITTEN = "NOT_WRITTEN"
    OUT_OF_BOUNDS = "OUT_OF_BOUNDS"
    INPUT_CHANGED = "INPUT_CHANGED"
    NOT_REPEATABLE = "NOT_REPEATABLE"
    NOT_REFUSED = "NOT_REFUSED"
    ERROR = "ERROR"
    CRASH = "CRASH"
    TIMEOUT = "TIMEOUT"
    OUT_OF_MEMORY = "OUT_OF_MEMORY"
    UNSUPPORTED = "UNSUPPORTED"
    VACUOUS = "VACUOUS"
    INCONCLUSIVE = "INCONCLUSIVE"
    HARNESS_ERROR = "HARNESS_ERROR"
    MISTRUSTED = "VACUOUS"  # the name of 0.1 for it, in programs

    @classmethod
    def _missing_(cls, value: object) -> Verdict | None:
        """The verdict that files of 0.1 call by another word."""
        return cls.VACUOUS if value == "MISTRUSTED" else None


MEANING: dict[str, str] = {
    Verdict.PASS: "every element within its bound",
    Verdict.WRONG_VALUE: "an output element outside its bound",
    Verdict.WRONG_GRADIENT: "a gradient element outside its bound",
    Verdict.WRONG_SHAPE: "an output or gradient of another shape, or another number of them",
    Verdict.WRONG_DTYPE: "an output or gradient of another dtype",
    Verdict.NOT_WRITTEN: "elements of the output still hold the poison put there before the call",
    Verdict.OUT_OF_BOUNDS: "a read or write outside a buffer",
    Verdict.INPUT_CHANGED: "an input was modified, or a setting of the process",
    Verdict.NOT_REPEATABLE: "the same call gave other bits the second time",
    Verdict.NOT_REFUSED: "a wrong call was answered, or its results were written before it was refused",
    Verdict.ERROR: "the backend raised, or reported failure",
    Verdict.CRASH: "the backend's process died",
    Verdict.TIMEOUT: "no answer within the time allowed",
    Verdict.OUT_OF_MEMORY: "more memory than allowed",
    Verdict.UNSUPPORTED: "the backend declined, with its reason",
    Verdict.VACUOUS: "a trivial answer (zeros, a constant, a copy) would pass too: no evidence",
    Verdict.INCONCLUSIVE: "the arithmetic cannot support a verdict",
    Verdict.HARNESS_ERROR: "opproof's own fault: a reference that raised or lacks a package, no memory for the judge",
}

#: Verdicts that neither accuse the backend nor acquit it.
OPEN = frozenset({Verdict.VACUOUS, Verdict.INCONCLUSIVE, Verdict.HARNESS_ERROR})

#: Verdicts that are failures of the backend.
FAILED = frozenset(Verdict) - OPEN - {Verdict.PASS, Verdict.UNSUPPORTED}

#: Verdicts on numbers: a backend answered in the right form, and some elements are out of their bounds.
WRONG = frozenset({Verdict.WRONG_VALUE, Verdict.WRONG_GRADIENT})


class Mode(StrEnum):
    """A case is tried in each of MODES; JVP and DOUBLE are asked for, and a wrong call has REFUSAL alone."""

    FORWARD = "forward"
    GRADIENT = "gradient"
    JVP = "jvp"  # the derivative along a direction, by forward mode
    DOUBLE = "double"  # the gradient of the gradient
    REFUSAL = "refusal"  # the forward of a wrong call, which is to be an error


MODES = (Mode.FORWARD, Mode.GRADIENT)


LEVELS = ("smoke", "standard", "full")

#: What a run may be asked for besides: every number of a dtype, of operators that map numbers. Part of no other.
EXHAUSTIVE = "exhaustive"
RUN_LEVELS = (*LEVELS, EXHAUSTIVE)


class Destination(StrEnum):
    """What a backend can do beside writing results to memory of their own, row by row."""

    IN_PLACE = "in place"  # the result lies where an input does, a gradient where its output's cotangent does
    STRIDED = "strided"  # the result lies as the caller says, with gaps, or its axes in another order


#: Errors as large as a precision makes them, and nothing else that speaks for it: what a declaration would make pass.
SIZE = "size of a precision"
#: Errors of a few units of 1, however small a result is: 1 was added and taken away.
NEAR_ONE = "digits lost"
#: A cause that makes results wrong by a rule, as no rounding does.
SYSTEMATIC = frozenset(
    (
        "sign", "factor", "row factor", "row shift", "constant", "constant added", "statistic", "terms dropped",
        "not summed", "parameter ignored", "other parameter", "parameter rounded", "swapped parameters", "eps",
        "unbiased", "input ignored", "swapped inputs", "cotangent ignored", "rows left", "other operator",
        "other values",
    )
)  # fmt: skip


_BYTES_PER_MIB = 2**20
_SAID = re.compile(r"its tensors alone take (\d+) MiB, more than --memory (\d+) allows")


def format_bytes(size: int) -> str:
    """A number of bytes for reading: 396 bytes, 1.8 KiB, 14,000 MiB"""
    if size < 1024:
        return f"{size} bytes"
    of, unit = (_BYTES_PER_MIB, "MiB") if size >= _BYTES_PER_MIB else (1024, "KiB")
    return f"{size / of:,.1f} {unit}" if size < 100 * of else f"{size / of:,.0f} {unit}"


def describe_beyond(size: int, limit: int) -> str:
    """The message of a record that is declined so; both in bytes."""
    taken, allowed = math.ceil(size / _BYTES_PER_MIB), limit // _BYTES_PER_MIB
    return f"its tensors alone take {taken} MiB, more than --memory {allowed} allows"


def read_beyond(message: str) -> tuple[int, int] | None:
    """MiB of the tensors and of the limit, from such a message; None of any other."""
    found = _SAID.fullmatch(message)
    return None if found is None else (int(found[1]), int(found[2]))
