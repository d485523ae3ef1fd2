"""The record `Result`: the contract between running and reporting."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

SCHEMA_VERSION = 1

#: Every verdict, with what it says.
VERDICTS: dict[str, str] = {
    "PASS": "every element within its bound",
    "WRONG_VALUE": "an output element outside its bound",
    "WRONG_GRADIENT": "a gradient element outside its bound",
    "WRONG_SHAPE": "an output or gradient of another shape, or another number of them",
    "WRONG_DTYPE": "an output or gradient of another dtype",
    "NOT_WRITTEN": "elements of the output still hold the poison put there before the call",
    "OUT_OF_BOUNDS": "a read or write outside a buffer",
    "INPUT_CHANGED": "an input was modified",
    "NOT_REPEATABLE": "the same call gave other bits the second time",
    "ERROR": "the backend raised, or reported failure",
    "CRASH": "the process died",
    "TIMEOUT": "no answer within the time allowed",
    "OUT_OF_MEMORY": "more memory than allowed",
    "UNSUPPORTED": "the backend declined, with its reason",
    "MISTRUSTED": "a trivial answer (zeros, a constant, a copy) would pass too: no evidence",
    "INCONCLUSIVE": "the arithmetic cannot support a verdict",
}

#: Verdicts that are failures of the backend.
FAILED = frozenset(VERDICTS) - {"PASS", "UNSUPPORTED", "MISTRUSTED", "INCONCLUSIVE"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Worst:
    """The element farthest outside its bound. Non-finite numbers are the strings nan, inf, -inf."""

    tensor: str  # name of the output, or of the input whose gradient it is
    index: tuple[int, ...]
    got: float | str
    expected: float | str
    bound: float | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What one backend did with one case in one mode ("forward" or "gradient")."""

    case: str
    op: str
    dtype: str
    backend: str
    mode: str
    verdict: str
    units: float | str | None = None  # largest error in units of honest rounding
    worst: Worst | None = None
    message: str = ""  # what happened, one or two sentences
    diagnosis: str = ""  # the pattern of the error, where one fits
    seconds: float = 0.0
    repro: str = ""  # one command line
    known: str = ""  # why this failure is known, from the ledger; empty otherwise


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """First line of results.jsonl: what ran, where, and how."""

    opproof: str  # version
    schema: int = SCHEMA_VERSION
    backends: list[dict[str, str]] = field(default_factory=list)  # name, version, device
    host: dict[str, str] = field(default_factory=dict)  # system, machine, python, numpy, cpus
    options: dict[str, Any] = field(default_factory=dict)  # of the command line
    started: str = ""  # ISO 8601, UTC
    cases: int = 0  # records planned
    constant: float = 0.0  # C of the bound
