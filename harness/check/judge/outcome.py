"""What became of a variant: judged, or declined, and by whom; and what is wrong by too little to tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto

import numpy as np

from opproof.core.dtypes import DTYPES
from opproof.core.verdicts import FAILED, WRONG, Mode
from opproof.harness.check.call.exchange import Reply
from opproof.harness.check.call.reference_reply import ReferenceReply
from opproof.harness.check.variants.fills import SATURATING
from opproof.harness.check.variants.variant import Variant
from opproof.harness.judge.bound import Comparison
from opproof.harness.judge.judgement import JudgedTensor, Judgement
from opproof.harness.reference.torch.evaluate import Truth


class DeclinedBy(Enum):
    """Who declines a variant."""

    REFERENCE = auto()  # it has no answer there, or none of the same meaning
    CANDIDATE = auto()  # it does not take it, or answers by a convention of its own
    NOBODY = auto()  # both answered, and nothing follows


@dataclass(frozen=True)
class PassedVariant:
    """A variant that was judged and found right, of which more can be asked."""

    variant: Variant
    asked: ReferenceReply
    truth: Truth
    reply: Reply
    judgements: Mapping[Mode, Judgement]


@dataclass(frozen=True)
class VariantResult:
    """What became of a variant, by mode; `declined`: why it has no judgements."""

    variant: Variant
    facts: ReferenceReply | None = None
    truth: Truth | None = None
    reply: Reply = field(default_factory=Reply)
    judgements: Mapping[Mode, Judgement] = field(default_factory=dict)
    declined: str = ""
    by: DeclinedBy = DeclinedBy.REFERENCE
    news: bool = False  # the candidate answers otherwise there, or dies: told though the variant is rare
    beyond: bool = False  # what is wrong there is said, and no failure: it lies beyond the inputs given
    delta: str = ""  # what it needs to fail, in a sentence
    advice: Mapping[Mode, str] = field(default_factory=dict)  # what to declare where rounding explains what is wrong

    @property
    def fails(self) -> bool:
        """Whether something of it is wrong."""
        return any(j.verdict in FAILED for j in self.judgements.values())

    @property
    def right(self) -> PassedVariant | None:
        """What was judged, where nothing of it is wrong."""
        if self.facts is None or self.truth is None or self.declined:
            return None
        if self.fails:
            return None
        return PassedVariant(self.variant, self.facts, self.truth, self.reply, self.judgements)


def with_failure(one: PassedVariant, reply: Reply, mode: Mode, judgement: Judgement, where: str = "") -> VariantResult:
    """A variant that was right and is wrong in one mode, by a later reply; `where`: the circumstances, in words."""
    judgement = replace(judgement, message="; ".join(filter(None, (judgement.message, where))))
    return VariantResult(one.variant, one.asked, one.truth, reply, {**one.judgements, mode: judgement})


def by_reference(variant: Variant, why: str) -> VariantResult:
    """A variant that the reference declines."""
    return VariantResult(variant, declined=f"the reference: {why}")


def by_candidate(variant: Variant, why: str, *, news: bool = False) -> VariantResult:
    """A variant that the candidate declines."""
    return VariantResult(variant, declined=why, by=DeclinedBy.CANDIDATE, news=news)


def as_beyond(one: VariantResult, why: str) -> VariantResult:
    """A variant at which the candidate is wrong, and which leaves the range of all inputs given."""
    mode, wrong = next((m, j) for m, j in one.judgements.items() if j.verdict in FAILED)
    said = f" ({wrong.message})" if wrong.message else ""
    return replace(by_candidate(one.variant, f"{why}: {wrong.verdict} in the {mode}{said}"), beyond=True)


def make_untelling(variant: Variant) -> VariantResult:
    """A variant from which nothing follows."""
    return VariantResult(variant, declined=NOTHING, by=DeclinedBy.NOBODY)


#: What is said of a rare variant at which nothing is told.
NOTHING = "it tells nothing of the candidate"
#: So many bounds are little, of dtypes with so many digits and more.
_MAX_BOUNDS = 8.0
FLOAT32_DIGITS = 24
#: And so many in so few of the elements: where thousands nearly cancel in the reference's order of sums, some do so by
#: chance far better than in another's (99 of 100 are within half their bounds then).
_FEW_ELEMENTS_SHARE = 2.0**-8
_MAX_BOUNDS_OF_FEW = 32.0
#: Where inputs are large, so many bounds in so few: scores that are computed again in a backward round otherwise.
_MAX_BOUNDS_OF_FEW_LARGE = 2.0
#: Roundings of the largest input that a result may be off by where inputs are large.
_MAX_INPUT_ROUNDINGS = 8.0


def is_marginal(variant: Variant, judgements: Mapping[Mode, Judgement]) -> bool:
    """Whether all that is wrong at a rare variant, or where inputs are large, is wrong by little."""
    wrong = [j for j in judgements.values() if j.verdict in WRONG]
    narrow = any(DTYPES[t.kind].digits < FLOAT32_DIGITS for t in variant.case_data if t.kind)
    if not wrong or narrow:
        return False
    most = _of_an_input(variant)
    return all(
        j.tensors
        and all(
            (variant.rare and _is_little_off(t.comparison))
            or _is_within_roundings(t, most)
            or (most > 0 and _is_off_in_few(t.comparison))
            for t in j.tensors
        )
        for j in wrong
    )


def _of_an_input(variant: Variant) -> float:
    """How much of itself a result may be off where inputs are large, as a thousand times what is given: 0 elsewhere.

    A few roundings of the largest input, as an exponential multiplies them: another formula rounds what the
    reference's takes off before, as Sinkhorn's iteration by two vectors does, and is right for inputs next to these.
    """
    if not variant.fill.endswith(SATURATING):
        return 0.0
    some = [(DTYPES[t.kind].u, np.abs(t.values)) for t in variant.case_data if t.kind and t.values.size]
    return _MAX_INPUT_ROUNDINGS * max((u * float(sizes.max()) for u, sizes in some), default=0.0)


def _is_within_roundings(judged: JudgedTensor, most: float) -> bool:
    wrong, expected = ~judged.comparison.passed, judged.expected.values
    with np.errstate(all="ignore"):
        off = np.abs(judged.got - expected)
    return most > 0 and bool(np.all(off[wrong] <= most * np.abs(expected[wrong])))


def _is_off_in_few(comparison: Comparison) -> bool:
    wrong = ~comparison.passed
    few = np.count_nonzero(wrong) <= _FEW_ELEMENTS_SHARE * wrong.size
    return bool(few and np.all(comparison.shares[wrong] <= _MAX_BOUNDS_OF_FEW_LARGE))


def _is_little_off(comparison: Comparison) -> bool:
    wrong = ~comparison.passed
    most = _MAX_BOUNDS_OF_FEW if np.count_nonzero(wrong) <= _FEW_ELEMENTS_SHARE * wrong.size else _MAX_BOUNDS
    return bool(np.all(comparison.shares[wrong] <= most))
