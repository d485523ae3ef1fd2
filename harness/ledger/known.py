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
import math
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import opproof.backends
from opproof.reports import Result
from opproof.reports._summary import severity
from opproof.vocabulary.errors import UsageError
from opproof.vocabulary.verdicts import FAILED

#: Ledgers of the built-in backends, applied to their runs unasked.
LEDGERS = Path(opproof.backends.__file__).parent

_FIELDS = {
    "pattern": str,
    "backend": str,
    "mode": str,
    "verdict": str,
    "reason": str,
    "link": str,
    "until": datetime.date,
    "always": bool,
    "units": float,
}


@dataclass(frozen=True)
class Known:
    """One entry of the ledger."""

    pattern: str
    reason: str
    backend: str = ""
    mode: str = ""
    verdict: str = ""
    link: str = ""
    until: datetime.date | None = None
    always: bool = True
    units: float = math.inf
    regex: re.Pattern[str] = field(default=re.compile(""), compare=False, repr=False)

    def covers(self, result: Result) -> bool:
        """Whether the entry speaks of this case, mode and backend, whatever the verdict."""
        return (
            (not self.backend or self.backend == result.backend)
            and (not self.mode or self.mode == result.mode)
            and self.regex.fullmatch(result.case) is not None
        )

    def explains(self, result: Result) -> bool:
        """Whether the entry makes this failure a known one."""
        return (
            result.verdict in FAILED
            and self.covers(result)
            and self.verdict in ("", result.verdict)
            and severity(result.units) <= self.units
        )


def read_known(path: Path) -> list[Known]:
    """The entries of a ledger. Raises UsageError that names the file and the entry."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read the ledger {path}: {error.strerror or error}; give an existing file.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not TOML: {error}.") from None
    entries = document.get("known", [])
    if set(document) - {"known"} or not isinstance(entries, list):
        raise UsageError(f"{path}: expected [[known]] tables only, got {', '.join(document)}.")
    return [_entry(path, i, e) for i, e in enumerate(entries, start=1)]


def _entry(path: Path, number: int, entry: dict[str, Any]) -> Known:
    where = f"{path}, entry {number}"
    if not isinstance(entry, dict):
        raise UsageError(f"{where}: expected a [[known]] table, got {entry!r}.")
    for key, value in entry.items():
        if key not in _FIELDS:
            raise UsageError(f"{where}: unknown key {key!r}; expected {', '.join(_FIELDS)}.")
        kind = float if type(value) is int and _FIELDS[key] is float else type(value)
        if kind is not _FIELDS[key]:  # a time of day is no date, and a bool no text
            raise UsageError(f"{where}: {key} is {value!r}; expected a {_FIELDS[key].__name__}.")
    if not entry.get("pattern") or not entry.get("reason"):
        raise UsageError(f"{where}: pattern and reason are required; a known failure has a cause.")
    if "verdict" in entry and entry["verdict"] not in FAILED:
        raise UsageError(f"{where}: verdict is {entry['verdict']!r}; expected one of {', '.join(sorted(FAILED))}.")
    if entry.get("mode", "forward") not in ("forward", "gradient"):
        raise UsageError(f"{where}: mode is {entry['mode']!r}; expected forward or gradient.")
    return Known(**entry, regex=pattern_regex(entry["pattern"]))


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
    found, all_results = [], list(results)
    for entry in known:
        name = f"known failure {entry.pattern!r}"
        covered = [r for r in all_results if entry.covers(r)]
        if entry.until is not None and today >= entry.until:
            found.append(f"{name} has expired on {entry.until}: mend it, or give a new date with a reason.")
        elif not covered and complete:
            found.append(f"{name} matches no case of this run: remove it, or mend its pattern.")
        elif entry.always and covered and complete and not any(entry.explains(r) for r in covered):
            found.append(f"{name} {_instead(entry, covered)}")
    return found


def _instead(entry: Known, covered: Sequence[Result]) -> str:
    """What the cases of an entry do that explains none of them."""
    worse = [severity(r.units) for r in covered if replace(entry, units=math.inf).explains(r)]
    if worse:
        return (
            f"fails with {max(worse):.3g} units, more than its {entry.units:g}: find out why, or give a larger number."
        )
    return f"no longer fails ({', '.join(sorted({r.verdict for r in covered}))}): remove it."
