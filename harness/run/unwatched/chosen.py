"""Which calls a program makes: of what passed two of every operator and mode, and some of what was declined."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Container, Iterable, Sequence
from itertools import chain, zip_longest

from opproof.cases import Case
from opproof.reports import Result
from opproof.vocabulary.dtypes import FLOATS
from opproof.vocabulary.verdicts import Verdict

#: Elements of the largest case, so that a call takes no second.
MOST = 2**16
#: Of every operator and mode so many that passed are asked again, and so many that were declined.
FEW, DECLINED = 2, 8


def chosen(results: Iterable[Result]) -> list[Result]:
    """Those of one backend, the first of every operator and mode before the second.

    Who declines in a call, having looked at its numbers, may not do so in a program; of what it has not at all, which
    `supports` says there too, nothing is asked.
    """
    passed, declined = (
        defaultdict[tuple[str, str], list[Result]](list),
        defaultdict[tuple[str, str], list[Result]](list),
    )
    for result in results:
        of = passed if result.verdict is Verdict.PASS else declined
        if result.verdict in (Verdict.PASS, Verdict.UNSUPPORTED) and _is_usual(Case.parse(result.case)):
            of[result.op, result.mode].append(result)
    some = [_few(passed[key]) + _of_each_fill(declined[key], {r.dtype for r in passed[key]}) for key in list(passed)]
    return [result for result in chain(*zip_longest(*some)) if result is not None]


def _is_usual(case: Case) -> bool:
    """A case of floats of one dtype, each tensor and result in memory of its own."""
    shared = any(isinstance(shape, str) for _, shape in case.tensors)
    plain = case.layout == case.into == "contiguous" and not case.inplace and not case.mixed and not shared
    return plain and case.dtype in FLOATS and _size(case) <= MOST


def _size(case: Case) -> int:
    return sum(math.prod(shape) for shape in case.shapes.values())


def _few(some: Sequence[Result]) -> list[Result]:
    """The largest of float32 (of others where there are none), and the largest of other numbers than those."""
    by_size = sorted(some, key=lambda r: (r.dtype != "f32", -_size(Case.parse(r.case)), r.case))
    first = by_size[:1]
    fill = [Case.parse(r.case).fill for r in first]
    return first + [r for r in by_size if r.dtype != "f32" or Case.parse(r.case).fill not in fill][: FEW - 1]


def _of_each_fill(some: Sequence[Result], dtypes: Container[str]) -> list[Result]:
    """The largest of each."""
    by_size = sorted(some, key=lambda r: (_size(Case.parse(r.case)), r.case))
    largest = {Case.parse(r.case).fill: r for r in by_size if r.dtype in dtypes}
    return list(largest.values())[-DECLINED:]
