"""Whether anything but the right answer would pass: then what passed is no evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, round_to
from opproof.harness.check.comparison import compare
from opproof.harness.judge.array_statistics import figures
from opproof.harness.judge.bound import far_off
from opproof.harness.judge.judgement import Judged
from opproof.harness.reference.expected import Expected

#: An answer wrong by this factor must not pass: bounds that let it are too wide to tell anything.
FACTOR = 1.02
#: Relative to what float64 was computed from, a difference that is none.
_NOTHING = 2.0**-40


def no_evidence(found: Sequence[Judged], kinds: Sequence[str], given: Sequence[Array], *, gradient: bool) -> str:
    """Why an array that passed proves nothing; empty where all do."""
    for judged, kind in zip(found, kinds, strict=True):
        e = judged.expected
        if (e.values.size <= 1 and e.values.any()) or not kind or (gradient and _is_zero(e)):
            continue
        what = f"the gradient of {judged.name}" if gradient else judged.name
        if not np.isfinite(e.values).any():
            return f"{what} holds no finite number"
        for name, answer in _trivial(e, given):
            if gradient and _is_same(answer, e):  # of what is added as it is, the right answer is what comes in
                continue
            if _passes(answer, e, kind):
                return f"{name} would pass as {what} too"
    return ""


def _is_zero(e: Expected) -> bool:
    """Whether nothing is left of a gradient but roundings of float64, as of a bias whose mean is taken off again."""
    return bool(np.all(np.abs(e.values) <= _NOTHING * np.max(e.scale, initial=0.0)))


def _is_same(answer: Array, e: Expected) -> bool:
    with np.errstate(all="ignore"):
        same = np.abs(answer - e.values) <= _NOTHING * np.abs(e.values)
    return bool(e.values.any() and np.all(same | (answer == e.values)))


def _trivial(e: Expected, given: Sequence[Array]) -> Iterator[tuple[str, Array]]:
    yield "zeros", np.zeros(e.values.shape)
    yield "a constant", np.full(e.values.shape, e.values.flat[0])
    if np.isfinite(e.values).all() and e.values.any() and not e.exact and e.scale.any():
        yield f"{FACTOR:g} times it", e.values * FACTOR
    for v in given:
        if v.shape == e.values.shape and v.dtype.kind == "f" and e.scale.any():
            yield "a copy of an input", v


def _passes(answer: Array, e: Expected, kind: str) -> bool:
    with np.errstate(all="ignore"):
        got = np.asarray(round_to(answer, DTYPES[kind]))
    if far_off(got, e, kind):
        return False
    comparison = compare(got, e, kind)
    return comparison.right and not figures(got, e, comparison, kind).objection
