"""The ledger of known failures: a TOML file of [[known]] tables.

    [[known]]
    pattern = "gelu[*f16*"        # of case ids; * matches anything, all else is literal
    backend = "ggml"              # optional
    mode = "forward"              # optional
    verdict = "WRONG_VALUE"       # optional
    reason = "gelu goes through an f16 table"
    link = "https://..."          # optional
    until = 2027-01-01            # optional; from that day on the entry fails the run
    always = false                # optional; it depends on the data drawn, and may pass for some seeds
    units = 1e4                   # optional; an error of more units of honest rounding is another failure

An entry that matches no case of the run, whose every case passes, or that has expired, fails the run.
"""

from __future__ import annotations

import datetime
import functools
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import opproof.backends
from opproof.harness.ledger.entries import read_entries
from opproof.reports import Result
from opproof.reports._kinds import severity
from opproof.vocabulary.modes import Mode
from opproof.vocabulary.verdicts import FAILED, Verdict

#: Ledgers of the built-in backends, applied to their runs unasked.
LEDGERS = Path(opproof.backends.__file__).parent


@dataclass(frozen=True)
class Known:
    """One entry of the ledger. Raises ValueError where a field says nothing, or what cannot be."""

    pattern: str
    reason: str
    backend: str = ""  # any, like the two that follow
    mode: Mode | None = None
    verdict: Verdict | None = None
    link: str = ""
    until: datetime.date | None = None
    always: bool = True
    units: float = math.inf

    def __post_init__(self) -> None:
        if not self.pattern.strip() or not self.reason.strip():
            raise ValueError("pattern or reason is blank; a known failure has a cause")
        if self.verdict is not None and self.verdict not in FAILED:
            raise ValueError(f"verdict is {str(self.verdict)!r}; expected one of {', '.join(sorted(FAILED))}")
        if not self.units > 0:  # nan neither
            raise ValueError(
                f"units is {self.units}; expected more than 0, the largest error that is still this failure"
            )

    @functools.cached_property
    def regex(self) -> re.Pattern[str]:
        """Of the ids that the entry covers."""
        return pattern_regex(self.pattern)

    def covers(self, result: Result) -> bool:
        """Whether the entry speaks of this case, mode and backend, whatever the verdict."""
        return (
            (not self.backend or self.backend == result.backend)
            and self.mode in (None, result.mode)
            and self.regex.fullmatch(result.case) is not None
        )

    def explains(self, result: Result) -> bool:
        """Whether the entry makes this failure a known one."""
        return (
            result.verdict in FAILED
            and self.covers(result)
            and self.verdict in (None, result.verdict)
            and severity(result.units) <= self.units
        )


def read_known(path: Path) -> list[Known]:
    """The entries of a ledger. Raises UsageError that names the file and the entry."""
    return read_entries(path, "known", Known)


def pattern_regex(pattern: str) -> re.Pattern[str]:
    """`*` matches anything, all else is literal."""
    return re.compile(".*".join(map(re.escape, pattern.split("*"))))


def built_in(spec: str) -> list[Known]:
    """The ledger that comes with a built-in backend, of its entries those for `spec`."""
    path = LEDGERS / spec.partition(":")[0] / "known.toml"
    if not path.is_file():
        return []
    return [replace(entry, backend=spec) for entry in read_known(path) if entry.backend in ("", spec)]


def mark(result: Result, known: Iterable[Known]) -> Result:
    """The result, with the reason of the entry that explains it."""
    for entry in known:
        if entry.explains(result):
            return replace(result, known=entry.reason)
    return result


def objections(
    known: Iterable[Known], results: Iterable[Result], today: datetime.date, *, complete: bool = True
) -> list[str]:
    """What is wrong with the ledger itself after a run, a sentence an entry.

    An entry that matches nothing is an objection only after a `complete` run, one of all cases of a level.
    """
    sentences, all_results = [], list(results)
    for entry in known:
        name = f"known failure {entry.pattern!r}"
        covered = [r for r in all_results if entry.covers(r)]
        if entry.until is not None and today >= entry.until:
            sentences.append(f"{name} has expired on {entry.until}: mend it, or give a new date with a reason.")
        elif not covered and complete:
            sentences.append(f"{name} matches no case of this run: remove it, or mend its pattern.")
        elif entry.always and covered and complete and not any(entry.explains(r) for r in covered):
            sentences.append(f"{name} {_instead(entry, covered)}")
    return sentences


def _instead(entry: Known, covered: Sequence[Result]) -> str:
    """What the cases of an entry do that explains none of them."""
    worse = [severity(r.units) for r in covered if replace(entry, units=math.inf).explains(r)]
    if worse:
        return (
            f"fails with {max(worse):.3g} units, more than its {entry.units:g}: find out why, or give a larger number."
        )
    return f"no longer fails ({', '.join(sorted({r.verdict for r in covered}))}): remove it."
