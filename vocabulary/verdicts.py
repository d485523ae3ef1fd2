"""Every verdict, what it says, and what it means for a run."""

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
    ERROR = "ERROR"
    CRASH = "CRASH"
    TIMEOUT = "TIMEOUT"
    OUT_OF_MEMORY = "OUT_OF_MEMORY"
    UNSUPPORTED = "UNSUPPORTED"
    MISTRUSTED = "MISTRUSTED"
    INCONCLUSIVE = "INCONCLUSIVE"
    HARNESS_ERROR = "HARNESS_ERROR"


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
    Verdict.ERROR: "the backend raised, or reported failure",
    Verdict.CRASH: "the backend's process died",
    Verdict.TIMEOUT: "no answer within the time allowed",
    Verdict.OUT_OF_MEMORY: "more memory than allowed",
    Verdict.UNSUPPORTED: "the backend declined, with its reason",
    Verdict.MISTRUSTED: "a trivial answer (zeros, a constant, a copy) would pass too: no evidence",
    Verdict.INCONCLUSIVE: "the arithmetic cannot support a verdict",
    Verdict.HARNESS_ERROR: "opproof's own fault: a reference that raised or lacks a package, no memory for the judge",
}

#: Verdicts that neither accuse the backend nor acquit it.
OPEN = frozenset({Verdict.MISTRUSTED, Verdict.INCONCLUSIVE, Verdict.HARNESS_ERROR})

#: Verdicts that are failures of the backend.
FAILED = frozenset(Verdict) - OPEN - {Verdict.PASS, Verdict.UNSUPPORTED}

#: Verdicts on numbers: a backend answered in the right form, and some elements are out of their bounds.
WRONG = frozenset({Verdict.WRONG_VALUE, Verdict.WRONG_GRADIENT})
