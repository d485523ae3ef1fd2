"""The ledger of known failures: a TOML file of [[known]] tables.

    [[known]]
    patterns = ["gelu[*f16;fill=wide*"]   # of case ids; * matches anything, all else is literal, any seed is meant
    backends = ["ggml", "ggml:*"]         # optional, like all down to versions
    modes = ["forward"]
    verdict = "WRONG_VALUE"
    versions = ["0.21", "0.22"]           # of the backend, beginnings; in others the entry explains nothing
    reason = "gelu goes through an f16 table"
    link = "https://..."                  # optional
    until = 2027-01-01                    # optional; from that day on the entry fails the run
    always = false                        # optional; it depends on the data drawn, and may pass for some seeds
    units = 210                           # the limit: what is farther off is another failure

`pattern`, `backend` and `mode` say the same of one, `verdicts` of several faults: what is read or written beyond a
buffer shows as one or another. Limits are:

    units      largest error in units of honest rounding
    rms        beside units: the largest RMS of an array's units
    nonfinite  true: NaN and infinity where numbers belong, or numbers for these; finite elements stay within units
    zeros      true: nothing but zeros comes, which is never this failure otherwise
    share      largest share of a tensor's finite elements that fail; all of them may never, unless it is 1. Without
               units it is the limit of errors that no number measures: wrong indices, anything where 0 is exact
    verdict    a fault (CRASH, ERROR, WRONG_SHAPE, ...), which needs no number
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from opproof.harness.ledger.entries import read_entries
from opproof.harness.ledger.limits import SIZED, Limits
from opproof.harness.ledger.patterns import covers_all, matches, pattern_regex
from opproof.reports import Result
from opproof.vocabulary.capabilities import backend_of
from opproof.vocabulary.modes import Mode
from opproof.vocabulary.verdicts import FAILED, Verdict


@dataclass(frozen=True)
class Known:
    """One entry of the ledger. Raises ValueError where a field says nothing, or what cannot be."""

    reason: str
    patterns: tuple[str, ...] = ()
    pattern: str = ""
    backends: tuple[str, ...] = ()  # any, like the modes, verdict and versions that follow
    backend: str = ""
    modes: tuple[Mode, ...] = ()
    mode: Mode | None = None
    verdicts: tuple[Verdict, ...] = ()
    verdict: Verdict | None = None
    versions: tuple[str, ...] = ()
    link: str = ""
    until: datetime.date | None = None
    always: bool = True
    units: float | None = None
    rms: float | None = None
    share: float | None = None
    nonfinite: bool = False
    zeros: bool = False

    def __post_init__(self) -> None:
        for what, several, one in (
            ("pattern", self.patterns, self.pattern),
            ("backend", self.backends, self.backend),
            ("mode", self.modes, self.mode),
            ("verdict", self.verdicts, self.verdict),
        ):
            if several and one:
                raise ValueError(f"{what} and {what}s are given; give one of them")
        if not self.globs:
            raise ValueError("no pattern; give patterns, a list of case ids in which * matches anything")
        if not self.reason.strip() or not all(p.strip() for p in self.globs):
            raise ValueError("pattern or reason is blank; a known failure has a cause")
        if open_ := next((v for v in self.failures if v not in FAILED), None):
            raise ValueError(f"verdict is {str(open_)!r}; expected one of {', '.join(sorted(FAILED))}")
        if self.verdicts and not SIZED.isdisjoint(self.verdicts):
            raise ValueError(
                f"verdicts are of faults; {', '.join(sorted(SIZED))} have a size, and an entry of their own"
            )
        self.limits.check()
        if not self.is_fault:
            self._limited()

    def _limited(self) -> None:
        """Raise ValueError where the entry would explain an operator that broke."""
        if self.limits == Limits(rms=self.rms):
            raise ValueError(
                f"{self.name} has no limit; add units, at most twice the largest error seen, or nonfinite = true where "
                "NaN or infinity is what is wrong: `opproof run --update-known FILE` proposes both"
            )
        if wide := next(filter(covers_all, self.globs), ""):
            raise ValueError(f"{wide!r} covers whole operators; name the fills, shapes, dtypes or parameters that fail")

    @property
    def globs(self) -> tuple[str, ...]:
        """All patterns."""
        return self.patterns or ((self.pattern,) if self.pattern else ())

    @property
    def specs(self) -> tuple[str, ...]:
        """Patterns of the backends that the entry speaks of; none for any."""
        return self.backends or ((self.backend,) if self.backend else ())

    @property
    def ops(self) -> frozenset[str]:
        """What stands before the bracket of the patterns."""
        return frozenset(p.partition("[")[0] for p in self.globs)

    @property
    def name(self) -> str:
        """What to call the entry."""
        more = len(self.globs) - 1
        return f"known failure {self.globs[0]!r}{f' and {more} more' if more else ''}"

    @property
    def limits(self) -> Limits:
        """How large the failure may be."""
        return Limits(self.units, self.rms, self.share, self.nonfinite, self.zeros)

    @property
    def failures(self) -> tuple[Verdict, ...]:
        """The verdicts that the entry speaks of; none for any."""
        return self.verdicts or (() if self.verdict is None else (self.verdict,))

    @property
    def is_fault(self) -> bool:
        """Whether what is known is no wrong number."""
        return bool(self.failures) and SIZED.isdisjoint(self.failures)

    def may_name(self, op: str) -> bool:
        """Whether a pattern can match a case of the operator: far quicker to ask than whether it matches one."""
        return any(op.startswith(o[: o.index("*")]) if "*" in o else o == op for o in self.ops)

    def covers_case(self, case: str) -> bool:
        """Whether a pattern matches the id."""
        return any(matches(p, case) for p in self.globs)

    def speaks_of(self, case: str, mode: Mode, spec: str) -> bool:
        """Whether the entry speaks of the case in this mode on this backend."""
        return self.covers_mode(mode) and self.covers_backend(spec) and self.covers_case(case)

    def covers_mode(self, mode: Mode) -> bool:
        """Whether the entry speaks of the mode."""
        return not (self.modes or self.mode) or mode in (*self.modes, self.mode)

    def covers_backend(self, spec: str) -> bool:
        """Whether the entry speaks of the backend."""
        some = (spec, backend_of(spec))  # whatever capability it runs under, unless the entry names one
        return not self.specs or any(pattern_regex(s).fullmatch(one) for s in self.specs for one in some)

    def covers(self, result: Result) -> bool:
        """Whether the entry speaks of this case, mode and backend, whatever the verdict."""
        return self.speaks_of(result.case, result.mode, result.backend)

    def names(self, result: Result) -> bool:
        """Whether the entry speaks of this failure, however large it is."""
        return result.verdict in (self.failures or FAILED) and self.covers(result)

    def explains(self, result: Result) -> bool:
        """Whether the entry makes this failure a known one."""
        return self.names(result) and (self.is_fault or (result.verdict in SIZED and self.limits.allow(result)))


def read_known(path: Path) -> list[Known]:
    """The entries of a ledger. Raises UsageError that names the file and the entry."""
    return read_entries(path, "known", Known)


def mark(result: Result, known: Iterable[Known]) -> Result:
    """The result, with the reason of the entry that explains it."""
    if result.verdict not in FAILED:
        return result
    for entry in known:
        if entry.explains(result):
            return replace(result, known=entry.reason)
    return result
