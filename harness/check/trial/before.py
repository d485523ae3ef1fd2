"""A wrong answer explained by the call before: one of its inputs was kept, by address or by shape, and read again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from opproof.harness.check.sides.alike import all_near
from opproof.harness.check.sides.exchange import Answered, Reply, Request
from opproof.harness.check.sides.facts import Facts
from opproof.harness.check.sides.reference import Reference

#: Inputs of which each is tried, and the part of the largest element that an explained answer is off by at most.
_INPUTS, _OFF = 6, 2.0**-6


def kept(reference: Reference, asked: Facts, other: Facts, replies: Sequence[Reply]) -> str:
    """Which input of the call before a wrong answer is right for, in words; empty where it is right for none.

    `replies`: of the candidate to other, asked, other. A number alone is near another by chance: the last reply has to
    be one of a candidate that keeps, too, right for what it kept of either call before.
    """
    for i, t in enumerate(asked.request.tensors[:_INPUTS]):
        before = other.request.tensors[i]
        if before.shape != t.shape or before.values is t.values:
            continue
        mixed = reference.native(_with(asked, i, other)).outputs
        if not _explains(mixed, asked.outputs, replies[1].outputs):
            continue
        later = reference.native(_with(other, i, asked)).outputs
        if any(_is_near(some, replies[2].outputs) for some in (later, other.outputs)):
            return f"it is right for {t.name} of the call before, which it seems to have kept"
    return ""


def _with(asked: Facts, i: int, other: Facts) -> Request:
    """What was asked, the i-th tensor of another call in it; no gradients."""
    tensors = tuple(other.request.tensors[i] if i == j else t for j, t in enumerate(asked.request.tensors))
    return replace(asked.request.plain, tensors=tensors)


def _explains(mixed: Sequence[Answered], right: Sequence[Answered], got: Sequence[Answered]) -> bool:
    """Whether an answer is what comes of the mixed inputs, and not what comes of those asked."""
    finite = all(np.isfinite(y.values).any() for y in got if y.values.size)
    return finite and _is_near(mixed, got) and not _is_near(right, got)


def _is_near(wanted: Sequence[Answered], got: Sequence[Answered]) -> bool:
    return len(got) > 0 and all_near(wanted, got, _OFF)
