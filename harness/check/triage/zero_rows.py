"""Rows of zeros that no given input has, and in which the reference's own epsilon decides what comes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.core.verdicts import FAILED, WRONG
from opproof.harness.check.judge.outcome import VariantResult
from opproof.harness.check.tensors import CallTensor
from opproof.harness.check.variants.properties import varies
from opproof.harness.judge.judgement import JudgedTensor

#: What is said of a variant with such rows.
OF_ZEROS = "{} has a row of zeros there, which no given input has: the reference's own epsilon decides what is right"

#: Of a tensor, per axis, the places along all other axes whose row is zero.
_ZeroRows = Mapping[int, NDArray[np.bool_]]


def describe_rows_of_zeros(one: VariantResult, draws: Sequence[Sequence[CallTensor]], *, has_floor: bool) -> str:
    """Why all that is wrong is left to an epsilon; empty where it is not. NaN and infinities are never left to it.

    `has_floor`: whether the reference adds a small number, or a function that it calls does.
    """
    failed = [j for j in one.judgements.values() if j.verdict in FAILED]
    if not has_floor or not failed or any(j.verdict not in WRONG or not j.tensors for j in failed):
        return ""
    given = {name for draw in draws for name, _ in _iter_rows(draw)}
    rows = [(name, zero) for name, zero in _iter_rows(one.variant.case_data) if name not in given]
    wrong = [t for j in failed for t in j.tensors if not t.comparison.right]
    if not wrong:
        return ""
    for name, zero in rows:
        if all(_is_in_rows(t, zero) for t in wrong):
            return OF_ZEROS.format(name)
    return ""


def _iter_rows(draw: Sequence[CallTensor]) -> Iterator[tuple[str, _ZeroRows]]:
    """The names of tensors with rows of zeros, and these; of rows with one number nothing is told."""
    for t in draw:
        if not varies(t) or t.values.size < 2:
            continue
        zero = {a: ~t.values.any(a) for a, n in enumerate(t.values.shape) if n > 1}
        if any(mask.any() for mask in zero.values()):
            yield t.name, zero


def _is_in_rows(judged: JudgedTensor, zero: _ZeroRows) -> bool:
    """Whether all that is wrong of an array is finite, and in such a row or what is computed of it."""
    wrong, got = ~judged.comparison.passed, np.asarray(judged.got)
    if not np.isfinite(got[wrong]).all() or not np.isfinite(judged.expected.values[wrong]).all():
        return False
    return any(_is_within(wrong, mask, axis) for axis, mask in zero.items())


def _is_within(wrong: Array, mask: NDArray[np.bool_], axis: int) -> bool:
    """Whether what is wrong is of rows along an axis: in their elements, or in what they were reduced to."""
    whole = np.expand_dims(mask, axis)
    if wrong.ndim == whole.ndim and all(n in (1, m) for n, m in zip(whole.shape, wrong.shape, strict=True)):
        return not (wrong & ~whole).any()
    return wrong.shape == mask.shape and not (wrong & ~mask).any()
