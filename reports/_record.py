"""The record `Result`: the contract between running and reporting."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from opproof.core.verdicts import Mode, Verdict

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Worst:
    """The element farthest outside its bound. Non-finite numbers are the strings nan, inf, -inf."""

    tensor: str  # name of the output, or of the input whose gradient it is
    index: tuple[int, ...]
    got: float | str
    expected: float | str
    bound: float | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ulp:
    """The largest error in units in the last place of the tensor's own dtype, as core/ulp.py defines them."""

    size: float | str
    tensor: str  # name of the output, or of the input whose gradient it is
    index: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StandardVerdict:
    """What a standard says of a record (--profile): no verdict of ours, and of no weight in it."""

    verdict: str  # within its limit, beyond it, or silent: it says nothing
    share: float | str | None = None  # of what it allows, how much the farthest element takes
    limit: str = ""  # in words
    clause: str = ""
    tensor: str = ""  # where that element is
    index: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """A tensor that the backend was given, in numbers; those of the finite elements are None where there is none."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    layout: str
    strides: tuple[int, ...]  # in elements
    fill: str
    low: float | None  # smallest, to six digits like the next two
    high: float | None  # largest
    size: float | None  # mean of |x|
    nans: int = 0
    infs: int = 0
    first: tuple[float | str, ...] = ()  # the first few elements, row-major


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """The error over a tensor folded to its last axis longer than 1 by all others; a cell holds its block's largest.

    `cells`, row by row, is a letter for each cell, followed by a count where the same one comes several times:
    a for no error, b up to 1 unit, c within the bound; then out of it, half a decade a letter: d up to √10 bounds,
    e up to 10, ..., w for 10^9.5 bounds and more; z where no number says how far, or bits had to be met. A
    bound is the limit of its own element. Of n rows in h cells, cell k holds those from ⌊kn/h⌋ up to the first of the
    next; columns alike.
    """

    tensor: str  # name of the output, or of the input whose gradient it is
    shape: tuple[int, ...]  # of the whole tensor
    rows: tuple[int, int]  # the part shown: the first row, and the first behind it
    columns: tuple[int, int]
    grid: tuple[int, int]  # cells down and across
    cells: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a failure looked like, as far as there was something to see."""

    inputs: tuple[Input, ...] = ()
    elements: tuple[Worst, ...] = ()  # the worst of one tensor that fail, the worst first
    pictures: tuple[
        Picture, ...
    ] = ()  # of the same tensor: all of it, and a part element by element where that is more


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What one backend did with one case in one mode."""

    case: str
    op: str
    dtype: str
    backend: str
    mode: Mode
    verdict: Verdict
    units: float | str | None = None  # largest error in units of honest rounding, as a share of what is allowed there
    limit: float | None = None  # how many units are allowed there; 0 where the bits must be met
    ulp: Ulp | None = None  # of the elements that were held to their bound; None where no float was
    standard: StandardVerdict | None = None  # None without --profile, and of what was not judged
    rms: float | None = None  # of the units of a whole array, the largest such; None of few elements
    bias: float | None = None  # the mean of its signed units, positive away from zero
    declared: str = ""  # by which lower precision, or rounding, the backend asked to be judged, in words
    impl: tuple[str, ...] = ()  # what computed the answers, by the backend's own names
    rounding: str = ""  # nearest, truncate or away, where the array tells how it was stored
    nonfinite: int = 0  # elements of a failure that are wrong because one of the two is no finite number
    finite_units: float | str = 0.0  # the largest error of the elements that fail though both are finite numbers
    share: float | None = None  # of a failing tensor's elements that are to be finite, how many fail; the largest such
    zeros: bool = False  # a failure whose wrong tensors are nothing but zeros
    left_out: tuple[str, ...] = ()  # outputs on request that the backend did not give: nothing is known of them
    worst: Worst | None = None
    message: str = ""  # what happened, one or two sentences
    diagnosis: str = ""  # the pattern of the error, where one fits
    also: tuple[str, ...] = ()  # other patterns that fit: what explains all records of a cause may be one of these
    patterns: tuple[str, ...] = ()  # kinds of `diagnosis`, "" where nothing fits, and of `also`; none: not asked for
    delta: str = ""  # of the smallest record of a cause: what its case needs to fail, and what passes beside it
    seconds: float = 0.0  # in the backend: its calls, of which a case has three
    judging: float | None = None  # seconds of the judge: data, the reference and its noisy runs, the comparison
    repro: str = ""  # one command line
    in_process: bool = False  # the backend ran in the judge's own process, within its reach
    known: str = ""  # why this failure is known, from the list of known failures; empty otherwise
    causes: tuple[str, ...] = ()  # of the list's, those under which the answer is right
    evidence: Evidence | None = None  # of failures only, and not in the file where there is none


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Pairs, and triples, of levels of factors that cases have, of how many that can go together."""

    pairs: int = 0
    of_pairs: int = 0
    triples: int = 0
    of_triples: int = 0

    def __add__(self, other: Coverage) -> Coverage:
        return Coverage(
            pairs=self.pairs + other.pairs,
            of_pairs=self.of_pairs + other.of_pairs,
            triples=self.triples + other.triples,
            of_triples=self.of_triples + other.of_triples,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """First line of results.jsonl: what ran, where, and how."""

    opproof: str  # version
    schema: int = SCHEMA_VERSION
    backends: list[dict[str, str]] = field(default_factory=list)  # name, version, device
    host: dict[str, str] = field(default_factory=dict)  # system, processor, vectors, versions, cores, variables
    options: dict[str, Any] = field(default_factory=dict)  # of the command line
    started: str = ""  # ISO 8601, UTC
    cases: int = 0  # records planned
    constants: dict[str, float] = field(default_factory=dict)  # of the bound: C, stored, rms, bias
    coverage: Coverage | None = None  # of the cases that were answered; None while the run is on

    @property
    def constant(self) -> float:
        """C of the bound."""
        return self.constants.get("C", 0.0)

    @property
    def bound(self) -> str:
        """The constants in words."""
        return ", ".join(f"{name} = {value:g}" for name, value in self.constants.items()) or "no constants"
