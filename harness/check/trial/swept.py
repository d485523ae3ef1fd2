"""Sizes and numbers looked at one after the other by PyTorch's own answer: those that differ by more than rounding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from opproof.harness.check.questions.variants import Variant
from opproof.harness.check.sides.alike import near
from opproof.harness.check.sides.exchange import Answered
from opproof.harness.check.sides.facts import facts
from opproof.harness.check.sides.reference import Ask, Native
from opproof.harness.check.trial.in_time import begun_in
from opproof.harness.check.trial.manner import Manner
from opproof.vocabulary.verdicts import Verdict

#: Of the largest element, more than rounding in 16 bits.
_OTHER = 2.0**-5


def differing(
    reference: Native, ask: Ask, variants: Iterable[Variant], manner: Manner, seconds: float
) -> Iterator[Variant]:
    """Those at which the candidate's answer is clearly another, which a judge then decides, begun in so many seconds.

    Who does not take one, or dies of it where tensors are in a process of its own, is judged as at other sizes.
    """
    for variant in begun_in(seconds, variants):
        asked = facts(reference, variant.asked, manner.seed, manner.gradients, variant.rest)
        if isinstance(asked, str):
            continue
        reply = ask(asked.request)
        if reply.error:
            if reply.cause is not Verdict.ERROR:
                yield variant
        elif _is_other(asked.outputs, reply.outputs) or _is_other(asked.reply.gradients, reply.gradients):
            yield variant


def _is_other(wanted: Sequence[Answered | None], got: Sequence[Answered | None]) -> bool:
    """Whether tensors of the same shapes hold clearly other numbers."""
    pairs = [(w, g) for w, g in zip(wanted, got, strict=False) if w is not None and g is not None]
    return any(w.values.shape == g.values.shape and (_is_nan(g, w) or not near(w, g, _OTHER)) for w, g in pairs)


def _is_nan(got: Answered, wanted: Answered) -> bool:
    """Whether something is NaN that is a number in the reference."""
    if got.values.dtype.kind != "f" or wanted.values.dtype.kind != "f":
        return False
    return bool(np.any(np.isnan(got.values) & ~np.isnan(wanted.values)))
