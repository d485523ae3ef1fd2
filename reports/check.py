"""What a check found: records, what was tried, what was not judged and why."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Any

from opproof.core.verdicts import FAILED, Mode, Verdict
from opproof.reports import terminal
from opproof.reports._kinds import ResultKind, result_kind_of
from opproof.reports._record import Header, Result
from opproof.reports._text import format_count
from opproof.reports.bench.record import Interval
from opproof.reports.bench.table import format_duration

#: The name of the inputs as given.
GIVEN = "as given"
#: What a message begins with where a bound lets zeros pass, or some times what is right.
_TOO_WIDE = re.compile(r"zeros|[\d.]+ times")
#: So many variants of one kind are named.
MAX_NAMED_VARIANTS = 4


#: Above it a side that is compared is no slower, in the two digits that are said.
_ALIKE_SPEED = 0.995
#: Of errors in units of honest rounding, a ratio within which two sides are as precise as each other.
_ALIKE_RMS = 4.0
#: Lower precisions that a kernel of float32 computes in, which have so many fewer bits than it.
_FEWER_BITS = {"tf32 or f16": 13, "bf16": 16}
#: The errors of such a kernel, as a share of its precision's rounding, lie between these.
_MIN_SHARE_OF_LOWER = 0.05
_MAX_SHARE_OF_LOWER = 4.0
#: How a contract says what is declared, and a diagnosis in what sums are held.
_DECLARED = re.compile(r"compute='\w+'")
_ACCUMULATES = re.compile(r"accumulate[sd] in (\w+)")

#: The side of a time with which every other is compared.
CANDIDATE = "candidate"


@dataclass(frozen=True)
class SideTime:
    """The time of one call of the candidate, or of PyTorch beside it, and the error of what came."""

    side: str  # CANDIDATE, "eager" or "torch.compile"
    mode: str
    interval: Interval
    units: float | None  # the largest
    rms: float | None  # of all elements, in units

    def compare_with(self, other: SideTime, dtype: str = "", found: str = "") -> str:
        """How fast this one is beside another, how precise, and why, and how long each takes.

        `found`: what is known of the precision, declared or diagnosed; else errors in `dtype` tell of which size it is.
        """
        ratio = other.interval.median / self.interval.median
        speed = f"{ratio:.2g} × as fast as" if ratio >= _ALIKE_SPEED else f"{1 / ratio:.2g} × as slow as"
        far = ""
        if self.rms is not None and other.rms is not None:
            how = found or _describe_precision(self.rms, other.rms, dtype)
            far = f"; {how}: {self.rms:.2g} units RMS where {other.side} has {other.rms:.2g}"
        return f"{speed} {other.side}{far}; {self.duration} and {other.duration}"

    @property
    def duration(self) -> str:
        """The median, and where it lies with 95 %."""
        low, middle, high = map(format_duration, (self.interval.low, self.interval.median, self.interval.high))
        return f"{middle} ({low} to {high})"


def _describe_precision(rms: float, other: float, dtype: str) -> str:
    """How precise what errs by `rms` units is, beside what errs by `other`."""
    if max(rms, other) <= max(_ALIKE_RMS * min(rms, other), 1.0):
        return "as precise"
    if rms < other:
        return "more precise"
    shares = {name: rms / 2.0**bits for name, bits in _FEWER_BITS.items() if dtype == "f32"}
    lower = [name for name, share in shares.items() if _MIN_SHARE_OF_LOWER <= share <= _MAX_SHARE_OF_LOWER]
    return f"less precise, as {lower[-1]} is" if lower else "less precise"


@dataclass(frozen=True)
class Report:
    """Of one candidate against one reference."""

    candidate: str
    reference: str
    results: tuple[Result, ...]
    tried: tuple[str, ...] = ()  # variants that were judged
    not_judged: tuple[str, ...] = ()  # what was not, each with its reason
    promoted: tuple[str, ...] = ()  # lines at which the reference left float64
    times: tuple[SideTime, ...] = ()  # of the candidate and of PyTorch, by mode, where they were asked for
    variants: dict[str, str] = field(default_factory=dict)  # the variant of a case
    left: int = 0  # variants, or cases, that there was no time for
    asked: int = 0  # those that were tried, judged or declined
    otherwise: tuple[str, ...] = ()  # where the candidate answers otherwise, or dies, which `not_judged` tells
    again: str = ""  # the call that tries one variant, "{}" where its name stands
    advisories: tuple[str, ...] = ()  # calls in which the candidate answers otherwise, and which are no failure
    advise: bool = False  # they are said
    beyond: tuple[str, ...] = ()  # where it is wrong and no given input lies: told, and no failure
    contract: tuple[str, ...] = ()  # what is declared of the candidate, then what of it is no failure by that
    header: Header = field(default_factory=lambda: Header(opproof=""))  # which opproof judged, and by what bound
    draws: int = 0  # of a sampler

    @property
    def ok(self) -> bool:
        """Whether nothing failed and something was proved: values, and gradients where they were asked for."""
        return not self.failures and any(r.verdict is Verdict.PASS for r in self.results) and not self._unproved

    @property
    def complete(self) -> bool:
        """Whether of the variants that were planned no more were left for want of time than were tried."""
        return self.left <= self.asked

    @property
    def partial(self) -> str:
        """How few variants were tried, in words; empty where at least half of those planned were."""
        return "" if self.complete else f"only {self.asked} of {self.asked + self.left} planned variants were tried"

    @property
    def _unproved(self) -> Sequence[Result]:
        """The records of the first mode, of values and gradients, in which none passed, for bounds that are too wide.

        Of x + y the gradient is a copy of what came, and right.
        """
        for mode in (str(Mode.FORWARD), str(Mode.GRADIENT)):
            some = [r for r in self.results if r.mode == mode]
            if any(map(_is_too_wide, some)) and not any(r.verdict is Verdict.PASS for r in some):
                return [r for r in some if _is_too_wide(r)]
        return ()

    @property
    def said_advisories(self) -> tuple[str, ...]:
        """The advisories where they were asked for."""
        return self.advisories if self.advise else ()

    @property
    def failures(self) -> dict[str, list[Result]]:
        """The records that failed, by cause."""
        found: dict[str, list[Result]] = {}
        for r in self.results:
            if r.verdict in FAILED:
                found.setdefault(str(r.verdict), []).append(r)
        return found

    @property
    def worst(self) -> Result | None:
        """The inputs as given where they failed, else the smallest case that did, a diagnosed one where there is one.

        The record with the largest error where none failed.
        """
        failed = [r for rs in self.failures.values() for r in rs]
        if failed:
            return min(
                failed,
                key=lambda r: (self.variants.get(r.case) != GIVEN, not r.delta, not r.diagnosis, *_measure_size(r)),
            )
        return max(self.results, key=lambda r: float(r.units or 0), default=None)

    @property
    def sentence(self) -> str:
        """What was found, in one sentence."""
        count = format_count(len(self.results), "record")
        if self.failures:
            failed = sum(map(len, self.failures.values()))
            return f"{self.candidate} is not {self.reference}: {failed} of {count} failed"
        if not self.ok:
            first = next(iter(self._unproved or self.results), None)
            why = f" ({first.mode}: {first.verdict}: {first.message})" if first is not None else ""
            return f"{self.candidate} was not proved to be {self.reference}{why}"
        units = [float(r.units) for r in self.results if r.verdict is Verdict.PASS and r.units is not None]
        few = f"{self.partial}: in these " if self.partial else ""
        error = f"{self.draws:,} draws" if self.draws else f"errors up to {max(units, default=0.0):.2g} units"
        text = f"{few}{self.candidate} is {self.reference}: {count}, {error}"
        if self.otherwise:
            text += f"; not at {first_of(self.otherwise)}: see what is not judged"
        return text

    @property
    def speeds(self) -> list[str]:
        """How fast the candidate is beside each side of PyTorch in each mode, with both errors."""
        own = {t.mode: t for t in self.times if t.side == CANDIDATE}
        given = {str(r.mode): r for r in self.results if self.variants.get(r.case, GIVEN) == GIVEN}
        said = []
        for other in (t for t in self.times if t.side != CANDIDATE and t.mode in own):
            record = given.get(other.mode)
            sums = _ACCUMULATES.search(record.diagnosis) if record is not None else None
            found = f"accumulates in {sums[1]}" if sums else ""
            if not found and (declared := _DECLARED.search(" ".join(self.contract))):
                found = f"with {declared[0]} declared"
            dtype = record.dtype if record is not None else ""
            said.append(f"{other.mode}: {own[other.mode].compare_with(other, dtype, found)}")
        return said

    @property
    def no_evidence(self) -> str:
        """How many records prove nothing, and why the first does; empty where all do."""
        some = [r for r in self.results if result_kind_of(r) is ResultKind.NO_EVIDENCE]
        if not some:
            return ""
        first = some[0]
        return (
            f"{len(some)} of {format_count(len(self.results), 'record')}, the first the {first.mode}: {first.message}"
        )

    def repro(self, result: Result) -> str:
        """How to see one record again; empty where its case is the operator's own."""
        variant = self.variants.get(result.case)
        return "" if variant is None or not self.again else self.again.replace("{}", variant)

    def _show_failure(self, result: Result) -> str:
        """A failure, and by what name of a variant: a case does not say which numbers are which."""
        head, *rest = terminal.format_failure(result).split("\n")
        variant = self.variants.get(result.case, GIVEN)
        return "\n".join([head if variant == GIVEN else f"{head}, {variant}", *rest])

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        worst = self.worst
        failed = sorted((r for rs in self.failures.values() for r in rs), key=lambda r: r is not worst)
        shown = [self._show_failure(r) for r in failed[:3]]
        more = [f"… and {format_count(len(failed) - 3, 'more failure')}"] * (len(failed) > 3)
        again = self.repro(worst) if failed and worst is not None else ""
        notes = [f"again: {again}"] * bool(again)
        notes += [f"contract: {text}" for text in self.contract]
        notes += [f"tried: {', '.join(self.tried)}"] * bool(self.tried)
        notes += [f"no evidence: {self.no_evidence}"] * bool(self.no_evidence)
        notes += [f"not judged: {text}" for text in self.not_judged]
        notes += [f"beyond the inputs given, and a failure with beyond=True: {text}" for text in self.beyond]
        notes += [f"advisory: {text}" for text in self.said_advisories]
        notes += [f"not float64 in the reference, promoted: {line}" for line in self.promoted]
        notes += [f"time: {text}" for text in self.speeds]
        notes += [f"{self.partial}: there was no time for the others"] * bool(self.partial)
        return "\n\n".join([self.sentence, *shown, *more, "\n".join(notes)]).rstrip()

    def _repr_html_(self) -> str:
        colour = "#1a7f37" if self.ok else "#cf222e"
        shown = ["" if r.units is None else f"{float(r.units):.2g}" for r in self.results]
        rows = "".join(
            f"<tr><td>{escape(r.case)}</td><td>{r.mode}</td><td>{r.verdict}</td><td>{units}</td>"
            f"<td>{escape(r.diagnosis or r.message)}</td></tr>"
            for r, units in zip(self.results, shown, strict=True)
        )
        head = "<tr><th>case</th><th>mode</th><th>verdict</th><th>units</th><th></th></tr>"
        return f'<p style="color:{colour}"><b>{escape(self.sentence)}</b></p><table>{head}{rows}</table>'

    def to_json(self, limit: int = 4096) -> str:
        """The verdict for programs, in at most `limit` bytes: causes, the smallest failing case, diagnosis, errors."""
        worst = self.worst
        failing = worst is not None and worst.verdict in FAILED
        document: dict[str, Any] = {
            "ok": self.ok,
            "complete": self.complete,
            "sentence": self.sentence[:300],
            "causes": {cause: len(rs) for cause, rs in self.failures.items()},
            "records": len(self.results),
            "largest_units": max((float(r.units) for r in self.results if r.units is not None), default=0.0),
            "tried": list(self.tried),
            "no_evidence": self.no_evidence[:200],
            "not_judged": [text[:200] for text in self.not_judged[:5]],
            "promoted": [text[:200] for text in self.promoted[:3]],
            "beyond": [text[:200] for text in self.beyond[:3]],
            "contract": [text[:200] for text in self.contract[:5]],
        }
        if self.advise:
            document["advisories"] = [text[:200] for text in self.advisories[:5]]
        if self.times:
            document["times"] = [
                {"side": t.side, "mode": str(t.mode), "seconds": t.interval.median, "low": t.interval.low,
                 "high": t.interval.high, "units": t.units, "rms": t.rms}
                for t in self.times
            ]  # fmt: skip
        if failing and worst is not None:
            document["smallest"] = {
                "case": worst.case[:300],
                "mode": str(worst.mode),
                "verdict": str(worst.verdict),
                "message": worst.message[:300],
                "delta": worst.delta[:300],
                "diagnosis": worst.diagnosis[:300],
                "units": worst.units,
                "limit": worst.limit,
                "ulp": None if worst.ulp is None else worst.ulp.size,
                "repro": self.repro(worst)[:600],
                "element": None if worst.worst is None else {
                    "tensor": worst.worst.tensor,
                    "index": list(worst.worst.index),
                    "got": worst.worst.got,
                    "expected": worst.worst.expected,
                    "bound": worst.worst.bound,
                },
            }  # fmt: skip
        document = {key: _convert_to_json(value) for key, value in document.items()}
        for key in ("promoted", "advisories", "beyond", "not_judged", "tried", "times", "contract"):
            if len(json.dumps(document)) > limit:
                document.pop(key, None)
        return json.dumps(document)

    def to_html(self, path: str | Path) -> Path:
        """The report as one page, the same as of runs. Raises UsageError where it cannot be written."""
        from opproof.reports import html
        from opproof.reports.files import write

        backend = {"name": self.candidate, "version": "", "device": ""}
        header = replace(self.header, backends=[backend], cases=len(self.results))
        write(Path(path), html.render(header, self.results, remarks=[f"time: {text}" for text in self.speeds]))
        return Path(path)


def first_of(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = len(names) - MAX_NAMED_VARIANTS
    return f"{', '.join(names[:MAX_NAMED_VARIANTS])}{f' and {more} more' if more > 0 else ''}"


def join_reports(reports: Sequence[Report]) -> Report:
    """Several reports of one candidate as one."""
    names = ("tried", "not_judged", "promoted", "otherwise", "advisories", "beyond", "contract")
    texts: dict[str, Any] = {name: tuple(dict.fromkeys(t for r in reports for t in getattr(r, name))) for name in names}
    return replace(
        reports[0],
        results=tuple(r for one in reports for r in one.results),
        variants={case: name for one in reports for case, name in one.variants.items()},
        left=sum(one.left for one in reports),
        asked=sum(one.asked for one in reports),
        **texts,
    )


def _measure_size(result: Result) -> tuple[int, bool]:
    numbers = [
        int(n)
        for part in result.case.partition("[")[2].split(";")
        for n in part.partition("=")[2].split("x")
        if n.isdigit()
    ]
    return sum(numbers), result.mode is Mode.GRADIENT


def _convert_to_json(value: Any) -> Any:
    """`value`, its numbers as JSON has them."""
    if isinstance(value, dict):
        return {k: _convert_to_json(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_convert_to_json(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _is_too_wide(result: Result) -> bool:
    """Whether a bound lets pass what is plainly wrong."""
    wide = _TOO_WIDE.match(result.message) is not None
    return result.verdict is Verdict.INCONCLUSIVE or (result.verdict is Verdict.VACUOUS and wide)
