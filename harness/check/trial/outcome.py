"""What became of a variant: judged, or declined, and by whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto

from opproof.core.verdicts import FAILED, Mode
from opproof.harness.check.doubts.slight import NOTHING
from opproof.harness.check.questions.variants import Variant
from opproof.harness.check.sides.exchange import Reply
from opproof.harness.check.sides.facts import Facts
from opproof.harness.judge.judgement import Judgement
from opproof.harness.reference.torch.evaluate import Truth


class By(Enum):
    """Who declines a variant."""

    REFERENCE = auto()  # it has no answer there, or none of the same meaning
    CANDIDATE = auto()  # it does not take it, or answers by a convention of its own
    NOBODY = auto()  # both answered, and nothing follows


@dataclass(frozen=True)
class Right:
    """A variant that was judged and found right, of which more can be asked."""

    variant: Variant
    asked: Facts
    truth: Truth
    reply: Reply
    judgements: Mapping[Mode, Judgement]


@dataclass(frozen=True)
class Tried:
    """What became of a variant, by mode; `declined`: why it has no judgements."""

    variant: Variant
    facts: Facts | None = None
    truth: Truth | None = None
    reply: Reply = field(default_factory=Reply)
    judgements: Mapping[Mode, Judgement] = field(default_factory=dict)
    declined: str = ""
    by: By = By.REFERENCE
    news: bool = False  # the candidate answers otherwise there, or dies: told though the variant is rare
    advice: Mapping[Mode, str] = field(default_factory=dict)  # what to declare where rounding explains what is wrong

    @property
    def fails(self) -> bool:
        """Whether something of it is wrong."""
        return any(j.verdict in FAILED for j in self.judgements.values())

    @property
    def right(self) -> Right | None:
        """What was judged, where nothing of it is wrong."""
        if self.facts is None or self.truth is None or self.declined:
            return None
        if self.fails:
            return None
        return Right(self.variant, self.facts, self.truth, self.reply, self.judgements)


def with_failure(one: Right, reply: Reply, mode: Mode, judgement: Judgement, where: str = "") -> Tried:
    """A variant that was right and is wrong in one mode, by a later reply; `where`: the circumstances, in words."""
    judgement = replace(judgement, message="; ".join(filter(None, (judgement.message, where))))
    return Tried(one.variant, one.asked, one.truth, reply, {**one.judgements, mode: judgement})


def by_reference(variant: Variant, why: str) -> Tried:
    """A variant that the reference declines."""
    return Tried(variant, declined=f"the reference: {why}")


def by_candidate(variant: Variant, why: str, *, news: bool = False) -> Tried:
    """A variant that the candidate declines."""
    return Tried(variant, declined=why, by=By.CANDIDATE, news=news)


def nothing(variant: Variant) -> Tried:
    """A variant from which nothing follows."""
    return Tried(variant, declined=NOTHING, by=By.NOBODY)
