"""What a diagnosis says of one record, withdrawn where other records of the same backend and operator refute it.

A record is diagnosed by itself. In 16 bits a small mistake of a formula passes as the rounding of what lies between
the steps, and the record says so; that the same operator's float32 is wrong, which no such rounding explains, or that
most records name a factor, only all records together tell. So it is with digits lost beside 1, of which the same
formula is never far off.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from opproof.core.dtypes import DTYPES
from opproof.core.verdicts import NEAR_ONE, SIZE, SYSTEMATIC, WRONG, Mode
from opproof.reports._record import Result

_Group = tuple[str, str, str]


def withdraw_refuted(records: Sequence[Result]) -> list[Result]:
    """The records, without what those of the same backend and operator refute: of the same mode, or of values.

    A gradient is taken of what is computed: what is wrong with values is wrong with it too, and not the reverse. What
    stays may refute more, so that the records are sound once more.
    """
    results = list(records)
    while (left := _drop_refuted(results)) != results:
        results = left
    return results


def _drop_refuted(results: list[Result]) -> list[Result]:
    """The records without what the patterns that they have now refute."""
    failing = [r for r in results if r.verdict in WRONG and not r.known]
    wide = {_group(r) for r in failing if _is_wide(r)}
    far = {_group(r) for r in failing if _is_far_off(r)}
    first = [(r.patterns[0], _group(r)) for r in failing if r.patterns]
    rules, sizes = Counter(g for p, g in first if p in SYSTEMATIC), Counter(g for p, g in first if p == SIZE)
    ruled = {g for g, n in rules.items() if n >= sizes[g]}  # of a few numbers a factor fits by chance

    def refuted(r: Result) -> set[str]:
        groups = {_group(r), (r.backend, r.op, str(Mode.FORWARD))}
        size = groups & ruled or (not _is_wide(r) and _group(r) in wide)
        return ({SIZE} if size else set()) | ({NEAR_ONE} if groups & far else set())

    return [_drop_patterns(r, refuted(r)) if r.patterns else r for r in results]


def _group(result: Result) -> _Group:
    return result.backend, result.op, str(result.mode)


def _is_wide(result: Result) -> bool:
    kind = DTYPES.get(result.dtype)
    return kind is None or kind.digits >= DTYPES["f32"].digits


def _is_far_off(result: Result) -> bool:
    """Whether what is wrong is no few units of 1; of numbers that are not finite nothing is known."""
    return bool(result.patterns) and NEAR_ONE not in result.patterns and not result.nonfinite


def _drop_patterns(result: Result, refuted: set[str]) -> Result:
    """The record without patterns of these kinds; another one that fits is then what is said."""
    told = [(p, s) for p, s in zip(result.patterns, (result.diagnosis, *result.also), strict=False) if s]
    kept = [(p, s) for p, s in told if p not in refuted]
    if kept == told:
        return result
    (first, said), *also = kept or [("", "")]
    return replace(result, diagnosis=said, also=tuple(s for _, s in also), patterns=(first, *(p for p, _ in also)))
