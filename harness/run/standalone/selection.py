"""Which calls of a backend a program makes, and with what numbers: the jobs that it is given.

Two calls of every operator and mode that passed, and some that are large or declined: with the record's numbers, with
others, and with what training and batches make of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Sequence
from itertools import chain, zip_longest

import numpy as np

from opproof.cases import Case
from opproof.core.arrays import Array
from opproof.core.dtypes import FLOATS
from opproof.core.verdicts import Mode, Verdict
from opproof.harness.reference.chunks.question import LargeQuestionPair, count_elements
from opproof.harness.reference.data import to_dtype
from opproof.harness.reference.question import Question
from opproof.reports import Result

#: Elements of the largest case, so that a call takes no second; of larger ones, up to the second number, one call each.
MAX_CASE_ELEMENTS = 2**16
MAX_LARGE_CASE_ELEMENTS = 2**21
_ASKED = frozenset({Verdict.PASS, Verdict.UNSUPPORTED})
#: Of every operator and mode so many that passed are asked again, and so many that were declined; large ones in all.
MAX_PASSED_CALLS = 2
MAX_DECLINED_CALLS = 8
MAX_LARGE_CALLS = 8


def choose_calls(results: Sequence[Result]) -> list[Result]:
    """Those of one backend, the first of every operator and mode before the second.

    Who declines in a call, having looked at its numbers, may not do so in a program; of what it has not at all, which
    `supports` says there too, nothing is asked.
    """
    plain = [
        (r, c)
        for r in results
        if r.verdict in _ASKED and r.mode is not Mode.REFUSAL and _is_plain(c := Case.parse(r.case))
    ]
    usual = [r for r, c in plain if not is_large(c)]
    passed = _by_call(r for r in usual if r.verdict is Verdict.PASS)
    declined = _by_call(r for r in usual if r.verdict is Verdict.UNSUPPORTED and (r.op, r.mode) in passed)
    some = [
        _choose_few(of) + _of_each_fill(declined.get(call, ()), {r.dtype for r in of}) for call, of in passed.items()
    ]
    return [result for result in chain(*zip_longest(*some)) if result is not None] + _choose_large(plain)


def _by_call(results: Iterable[Result]) -> dict[tuple[str, str], list[Result]]:
    found = defaultdict[tuple[str, str], list[Result]](list)
    for result in results:
        found[result.op, result.mode].append(result)
    return dict(found)


def is_large(case: Case) -> bool:
    """Whether a program makes one call of the case at most."""
    return count_elements(case) > MAX_CASE_ELEMENTS


def _choose_large(plain: Iterable[tuple[Result, Case]]) -> list[Result]:
    """Those that passed and are larger than others: the largest of an operator and mode, some of all of these."""
    sizes = {
        id(r): count_elements(c)
        for r, c in plain
        if r.verdict is Verdict.PASS and MAX_CASE_ELEMENTS < count_elements(c) <= MAX_LARGE_CASE_ELEMENTS
    }
    some = _by_call(r for r, _ in plain if id(r) in sizes).values()
    of_each = [max(of, key=lambda r: (r.dtype == "f32", sizes[id(r)], r.case)) for of in some]
    return of_each[:: -(-len(of_each) // MAX_LARGE_CALLS)] if of_each else []


def _is_plain(case: Case) -> bool:
    """A case of floats of one dtype, each tensor and result in memory of its own."""
    shared = any(isinstance(shape, str) for _, shape in case.tensors)
    plain = case.layout == case.into == "contiguous" and not case.inplace and not case.mixed and not shared
    return plain and case.dtype in FLOATS


def _choose_few(some: Sequence[Result]) -> list[Result]:
    """The largest of float32 (of others where there are none), and the largest of other numbers than those."""
    by_size = sorted(some, key=lambda r: (r.dtype != "f32", -count_elements(Case.parse(r.case)), r.case))
    first = by_size[:1]
    fill = [Case.parse(r.case).fill for r in first]
    return (
        first + [r for r in by_size if r.dtype != "f32" or Case.parse(r.case).fill not in fill][: MAX_PASSED_CALLS - 1]
    )


def _of_each_fill(some: Sequence[Result], dtypes: Container[str]) -> list[Result]:
    by_size = sorted(some, key=lambda r: (count_elements(Case.parse(r.case)), r.case))
    largest = {Case.parse(r.case).fill: r for r in by_size if r.dtype in dtypes}
    return list(largest.values())[-MAX_DECLINED_CALLS:]


#: Every third row has no loss, the first too, as of tokens that are masked.
_MASKED = 3
#: The cotangent of a mean, or of a loss that is scaled: a power of two, which every dtype has.
_MEAN = 2.0**-6


def make_job(pair: LargeQuestionPair) -> dict[str, object]:
    """What the program is told of the call of a record."""
    asked = pair.case_data
    losses, data = ({}, {"asked": asked}) if is_large(asked.case) else (losses_of(pair), data_of(pair))
    return {
        "op": asked.op.called, "params": dict(asked.params), "dtypes": list(asked.case.dtypes),
        "gradient": bool(asked.cotangents), "needs": list(asked.needs), "losses": list(losses),
        "data": {name: _to_native(posed) for name, posed in {**data, **losses}.items()},
    }  # fmt: skip


def _to_native(posed: Question) -> tuple[list[Array | None], list[Array | None]]:
    inputs, cotangents = (
        [None if x is None else to_dtype(x, posed.case.dtype) for x in arrays]
        for arrays in (posed.inputs, posed.cotangents)
    )
    return inputs, cotangents


def data_of(pair: LargeQuestionPair) -> dict[str, Question]:
    """The questions of a record, by name."""
    some = {"asked": pair.case_data, "other": pair.decoy_data}
    if pair.case_data.op.domain is None:  # its numbers need not fit each other
        some["element"] = pair.case_data.given(inputs=tuple(map(_with_another_element, pair.case_data.inputs)))
    return some


def losses_of(pair: LargeQuestionPair) -> dict[str, Question]:
    """The question of a gradient with the cotangents of losses, by name; none of a forward."""
    cotangents = pair.case_data.cotangents
    if not cotangents:
        return {}
    some = {
        "cotangent of ones": [None if g is None else np.ones_like(g) for g in cotangents],
        "cotangent of a mean": [None if g is None else np.full_like(g, _MEAN) for g in cotangents],
        "cotangent with rows of zeros": [_mask_some(g) for g in cotangents],
    }
    return {name: pair.case_data.given(cotangents=tuple(gs)) for name, gs in some.items()}


def _with_another_element(x: Array | None) -> Array | None:
    """Floats of which one, in the middle, is another of its row: numbers that are together as they were."""
    if x is None or x.dtype.kind != "f" or not x.size or not x.ndim:
        return x
    changed = x.copy()
    row = changed.reshape(-1, x.shape[-1])[x.size // x.shape[-1] // 2]
    others = np.flatnonzero(row != row[len(row) // 2])
    if others.size:
        row[len(row) // 2] = row[others[0]]
    return changed


def _mask_some(g: Array | None) -> Array | None:
    if g is None or not g.ndim:
        return g
    masked = g.copy()
    masked[::_MASKED] = 0
    return masked
