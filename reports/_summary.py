"""What every rendering needs: kinds of verdicts, counts, the sentence that says how the run ended, numbers as text."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from opproof.reports._record import Header, Result

#: From worst to best. A record is of exactly one kind.
KINDS = ("failed", "known", "doubtful", "unsupported", "passed")

_KIND = {"PASS": "passed", "UNSUPPORTED": "unsupported", "MISTRUSTED": "doubtful", "INCONCLUSIVE": "doubtful"}
# Control characters, which a crashing backend can put into a message, move a terminal's cursor and are not XML.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of some records. `units` is the largest error among those that have one, None where none has."""

    records: int
    kinds: Counter[str]
    verdicts: Counter[str]
    units: float | None


def kind(result: Result) -> str:
    """One of KINDS. A verdict that is not known here counts as a failure."""
    found = _KIND.get(result.verdict, "failed")
    return "known" if found == "failed" and result.known else found


def tally(results: Iterable[Result]) -> Tally:
    """Count records by kind and verdict."""
    kinds: Counter[str] = Counter()
    verdicts: Counter[str] = Counter()
    worst: float | None = None
    for result in results:
        kinds[kind(result)] += 1
        verdicts[result.verdict] += 1
        if result.units is not None:
            here = severity(result.units)
            worst = here if worst is None else max(worst, here)
    return Tally(sum(kinds.values()), kinds, verdicts, worst)


def grouped(results: Iterable[Result], key: Callable[[Result], str]) -> dict[str, list[Result]]:
    """Records by a text, sorted by it."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(key(result), []).append(result)
    return dict(sorted(groups.items()))


def failures(results: Iterable[Result]) -> list[Result]:
    """Unexpected failures, by operator, largest error first."""
    found = [r for r in results if kind(r) == "failed"]
    return sorted(found, key=lambda r: (r.op, -severity(r.units), r.case, r.mode, r.backend))


def severity(units: float | str | None) -> float:
    """Units as a number that sorts: nan is as bad as inf, and so is an error that could not be measured."""
    number = math.inf if units is None else float(units)
    return math.inf if math.isnan(number) else number


def number(value: float | str | None, digits: int = 9) -> str:
    """A number of a record as text: nan, inf and -inf as they are, nothing as an en dash."""
    if value is None:
        return "–"
    # 2.9e6 rather than Python's 2.9e+06
    return re.sub(r"e([+-])0*", lambda sign: "e-" if sign[1] == "-" else "e", f"{float(value):.{digits}g}")


def short_names(backends: Iterable[str]) -> dict[str, str]:
    """What to call each backend: a path by its last part, where that is unambiguous."""
    names = {b: b if "/" not in b else b.rstrip("/").rsplit("/", 1)[-1] for b in backends}
    counts = Counter(names.values())
    return {b: name if counts[name] == 1 else b for b, name in names.items()}


def described(header: Header, backend: str) -> str:
    """Name, version and device of a backend of the records, as far as the header has them."""
    about = next((b for b in header.backends if backend in (b.get("spec"), b.get("name"))), {})
    name = short_names([backend])[backend]
    own = about.get("name", name)
    parts = [name if own in name else f"{name} ({own})", about.get("version", ""), about.get("device", "")]
    return line(" ".join(part for part in parts if part))


def options(header: Header) -> dict[str, str]:
    """The options that were set, flat and as text."""
    flat: dict[str, Any] = {}
    for key, value in header.options.items():
        flat.update(value if isinstance(value, dict) else {key: value})
    texts = {k: ", ".join(map(str, v)) if isinstance(v, list | tuple) else v for k, v in flat.items() if k != "backends"}
    return {k.replace("_", " "): line(str(v)) for k, v in texts.items() if v not in ("", None, False)}


def when(header: Header) -> str:
    """The start of the run, for reading: 2026-07-01 12:00:00 UTC"""
    return re.sub(r"(\.\d+)?(Z|\+00:00)$", " UTC", header.started).replace("T", " ", 1)


def plural(count: int, noun: str) -> str:
    """1 record, 2,843 records"""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def plain(text: str) -> str:
    """Text without control characters, except tabs and line ends."""
    return _CONTROL.sub("\ufffd", text.replace("\r\n", "\n"))


def line(text: str) -> str:
    """Text without control characters, on one line."""
    return " ".join(plain(text).split())


def sentence(header: Header, results: Sequence[Result]) -> str:
    """How the run ended, in one sentence; nothing run, or not everything, is never success."""
    if not results:
        return "No case ran, so nothing is known about the backend."
    names = short_names({r.backend for r in results})
    groups = grouped(results, lambda r: r.backend)
    said = "; ".join(_one(line(names[backend]), some, header.constant) for backend, some in groups.items())
    missing = header.cases - len(results)
    return f"{said}; {plural(missing, 'planned record')} did not run." if missing > 0 else f"{said}."


def _one(name: str, results: Sequence[Result], constant: float) -> str:
    count = tally(results)
    failed, passed = count.kinds["failed"], count.kinds["passed"]
    if failed:
        ops = sorted({r.op for r in results if kind(r) == "failed"})
        named = ", ".join(ops[:3]) + (", …" if len(ops) > 3 else "")
        said = (
            f"{name} fails {failed:,} of {plural(count.records, 'record')}, in {plural(len(ops), 'operator')} ({named})"
        )
    elif passed:
        ops = sorted({r.op for r in results if kind(r) == "passed"})
        said = f"{name} passes {passed:,} of {plural(count.records, 'record')} in {plural(len(ops), 'operator')}"
        worst = tally(r for r in results if kind(r) == "passed").units
        if worst is not None:
            said += f", its largest error {number(worst, 2)} of {number(constant, 3)} units allowed"
    else:
        said = f"{name} passes none of {plural(count.records, 'record')}"
    # A failed run has its other counts elsewhere; one that passed must say here what it did not prove.
    rest = [] if failed else [f"{count.kinds[k]:,} {text}" for k, text in _REST.items() if count.kinds[k]]
    return f"{said} ({', '.join(rest)})" if rest else said


_REST = {"known": "known to fail", "doubtful": "without evidence", "unsupported": "unsupported"}
