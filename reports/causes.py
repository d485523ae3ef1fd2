"""Failures by cause: one operator, mode and verdict with one diagnosis, whatever the dtype, shape and layout.

Every rendering has its causes from here, in this order and with these headings.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from opproof.core.dtypes import DTYPES
from opproof.core.verdicts import Verdict
from opproof.reports._kinds import severity_of, share
from opproof.reports._record import Result
from opproof.reports._text import format_count, format_line, short_names_of
from opproof.reports.advice import withdraw_refuted

#: Verdicts that are worse than a wrong answer: the process or memory that is not the backend's own is at stake.
_HARMFUL = (Verdict.OUT_OF_BOUNDS, Verdict.CRASH, Verdict.INPUT_CHANGED)

#: Numbers that say which case it was, not what is wrong: a threshold, a factor, an index.
_NUMBER = re.compile(r"(?<!multiple of )(?<![\w.])-?\d+(\.\d+)?(e[+-]?\d+)?%?(?!\w)|\binf\b|\bnan\b")
#: The id of a case.
_CASE = re.compile(r"\b[a-z]\w*\[\w+=[^\]]*\]")
#: Shapes, and lists of numbers: (), (3,), (2, 3, 5), 2x3x5, axes 2, 3.
_SHAPE = re.compile(r"(?<!\w)\((?:#(?:, ?#)*,?)?\)|(?<![\w.])(?:\d+(?:x\d+)+|0d)(?!\w)")
_AXES = re.compile(r"\bax(?:is|es) #(?:(?:, ?#)* and #|(?:, ?#)+)?(?!\w)")
_EXTENTS = re.compile(r"=(\d+(?:x\d+)+|\d+,|0d)(?=[;\]])")


@dataclass(frozen=True, slots=True)
class Cause:
    """Records that fail alike, the smallest case first."""

    records: tuple[Result, ...]
    explanation: str = ""  # what is wrong, in the words of the smallest record; empty where no pattern fits

    @property
    def smallest(self) -> Result:
        """The record to begin with."""
        return self.records[0]

    @property
    def delta(self) -> str:
        """What a case needs to fail so; empty where no record says it."""
        return next((r.delta for r in self.records if r.delta), "")

    @property
    def why(self) -> str:
        """What a case needs to fail, and what is then wrong."""
        return "; ".join(filter(None, (self.delta, self.explanation)))

    @property
    def dtypes(self) -> list[str]:
        """Dtypes in which it shows."""
        seen = {r.dtype for r in self.records}
        return [*(d for d in DTYPES if d in seen), *sorted(seen.difference(DTYPES))]


def find_causes(failed: Iterable[Result]) -> list[Cause]:
    """The causes of failures, the worst first: one that does harm, then that of the most records."""
    groups: dict[tuple[str, ...], list[Result]] = {}
    for r in withdraw_refuted(list(failed)):
        groups.setdefault((r.backend, r.op, str(r.mode), str(r.verdict)), []).append(r)
    return sorted((cause for some in groups.values() for cause in _group_by_pattern(some)), key=_sort_key_of)


def _group_by_pattern(records: Sequence[Result]) -> Iterator[Cause]:
    """Records by the fewest patterns that explain them all: again and again the one that explains the most of the rest.

    Of patterns that explain as many the one wins that is the first choice of the most.
    """
    texts = {id(r): _list_texts(r) for r in records}
    left = list(records)
    while left:
        votes: Counter[str] = Counter(key for r in left for key in texts[id(r)])
        first: Counter[str] = Counter(next(iter(texts[id(r)])) for r in left)
        key = max(votes, key=lambda k: (votes[k], first[k]))
        some = sorted((r for r in left if key in texts[id(r)]), key=_measure_size)
        yield Cause(tuple(some), texts[id(some[0])][key])
        left = [r for r in left if key not in texts[id(r)]]


def _list_texts(result: Result) -> dict[str, str]:
    """What explains a record, by what of it is not the case's own, the most telling first."""
    found: dict[str, str] = {}
    for text in (result.diagnosis or result.message, *result.also):
        found.setdefault(_extract_pattern(text, result), text)
    return found


def _extract_pattern(text: str, result: Result) -> str:
    """What a text says of every case alike: without its numbers, shapes and axes, and the record's own dtype."""
    same = _CASE.sub("#", text)
    same = re.sub(rf"(?<!\w){re.escape(result.dtype)}(?!\w)", "its dtype", same) if result.dtype else same
    same = _NUMBER.sub("#", same)
    return _AXES.sub("axes", _SHAPE.sub("#", same))


def format_heading(cause: Cause, backends: Sequence[str] = ()) -> str:
    """What fails, how often and in which dtypes: conv2d gradient, WRONG_GRADIENT: 41 records, f32 f16 bf16

    The backend is named where there are several `backends`.
    """
    first = cause.smallest
    on = f" on {short_names_of(backends)[first.backend]}" if len(backends) > 1 else ""
    where = f"{first.op} {first.mode}{on}"
    return format_line(
        f"{where}, {first.verdict}: {format_count(len(cause.records), 'record')}, {' '.join(cause.dtypes)}"
    )


def _sort_key_of(cause: Cause) -> tuple[bool, int, str, str]:
    first = cause.smallest
    return (first.verdict not in _HARMFUL, -len(cause.records), first.op, str(first.mode))


def _measure_size(result: Result) -> tuple[float, ...]:
    """Elements of a case's tensors, then how wrong it is: a small case with a large error is the best to look at."""
    extents = [tuple(map(int, re.findall(r"\d+", text.replace("0d", "")))) for text in _EXTENTS.findall(result.case)]
    return (sum(map(math.prod, extents)), -share(result), -severity_of(result.units), len(result.case))
