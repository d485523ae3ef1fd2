"""Sizes, numbers and draws looked at one after the other by PyTorch's own answer: what differs is to be judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from opproof.core.verdicts import Verdict
from opproof.harness.check.questions.variants import Variant
from opproof.harness.check.sides.alike import near
from opproof.harness.check.sides.exchange import Answered
from opproof.harness.check.sides.facts import facts
from opproof.harness.check.sides.reference import Ask, Native
from opproof.harness.check.tensors import kind_of
from opproof.harness.check.trial.in_time import begun_in
from opproof.harness.check.trial.manner import Manner

#: Of the largest element, more than rounding in 16 bits; and in float32, where it is little that PyTorch loses itself.
_OTHER, _IN_32 = 2.0**-5, 2.0**-12
#: Dtypes in which an answer is rounded to no more than that.
_NARROW = frozenset(("f16", "bf16", "f8e4m3", "f8e5m2"))
#: Whose time or memory is over.
_SPENT = frozenset((Verdict.TIMEOUT, Verdict.OUT_OF_MEMORY))


def differing(
    reference: Native, ask: Ask, variants: Iterable[Variant], manner: Manner, seconds: float
) -> Iterator[Variant]:
    """Those at which the candidate's answer is clearly another, which a judge then decides, begun in so many seconds.

    Who does not take one, or dies of it where tensors are in a process of its own, is judged as at other sizes. Each
    that is judged and goes on doubles what counts as another answer: so much was rounding.
    """
    other = 0.0
    for variant in begun_in(seconds, variants):
        asked = facts(reference, variant.asked, manner.seed, manner.gradients, variant.rest)
        if isinstance(asked, str):
            continue
        other = other or _rounding(variant, asked.outputs)
        reply = ask(asked.request)
        if reply.error:
            if reply.cause is not Verdict.ERROR and not (variant.vast and reply.cause in _SPENT):
                yield replace(variant, seen=True)
        elif _is_other(asked.outputs, reply.outputs, other) or _is_other(asked.reply.gradients, reply.gradients, other):
            yield replace(variant, seen=True)
            other = min(2 * other, _OTHER)


def _rounding(variant: Variant, outputs: Sequence[Answered]) -> float:
    """What is more than rounding, of the largest element."""
    kinds = {*(t.kind for t in variant.asked), *(kind_of(y.dtype) for y in outputs)}
    return _OTHER if kinds & _NARROW else _IN_32


def _is_other(wanted: Sequence[Answered | None], got: Sequence[Answered | None], other: float) -> bool:
    """Whether tensors of the same shapes hold clearly other numbers."""
    pairs = [(w, g) for w, g in zip(wanted, got, strict=False) if w is not None and g is not None]
    return any(w.values.shape == g.values.shape and (_is_nan(g, w) or not near(w, g, other)) for w, g in pairs)


def _is_nan(got: Answered, wanted: Answered) -> bool:
    """Whether something is NaN that is a number in the reference."""
    if got.values.dtype.kind != "f" or wanted.values.dtype.kind != "f":
        return False
    return bool(np.any(np.isnan(got.values) & ~np.isnan(wanted.values)))
