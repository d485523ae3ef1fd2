"""A variant while it is judged, and what the reference makes of its inputs, found out once for all layouts of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from opproof.core.dtypes import DTYPES
from opproof.core.verdicts import Mode, Verdict
from opproof.harness.check.call.exchange import Reply, are_alike
from opproof.harness.check.call.reference import CallFn, Reference
from opproof.harness.check.call.reference_reply import ReferenceReply, ask_reference
from opproof.harness.check.judge.compare import fails, judge, judge_gradients
from opproof.harness.check.judge.outcome import FLOAT32_DIGITS, VariantResult, is_marginal
from opproof.harness.check.options import CheckOptions
from opproof.harness.check.tensors import CONTIGUOUS, CallTensor, layout_of_cotangents
from opproof.harness.check.variants.variant import GIVEN, Variant
from opproof.harness.clock import Allowed, Clock
from opproof.harness.judge.judgement import Judgement
from opproof.harness.reference.roundoff import RUNS
from opproof.harness.reference.torch.dtype_leaks import Casts
from opproof.harness.reference.torch.evaluate import TorchQuestion, Truth, iter_truths

#: By the arrays that tensors hold, which are the same objects in every layout.
_Key = tuple[int, ...]
#: Layouts in which a tensor holds other values, or its cotangent does.
_STRETCHED = "broadcast"
#: Runs of noise at which a variant is judged first: a bound from so few is half or twice as wide, so that an answer is
#: right by it where its errors are no more than this share of what is allowed.
_QUICK_NOISE_RUNS = 4
_WELL_WITHIN_SHARE = 0.5
#: What PyTorch raises of sizes that a reference takes in its own dtype alone.
NOT_THESE = (RuntimeError, ValueError, IndexError, ZeroDivisionError)


@dataclass
class TruthCache:
    """What is known of the inputs of one check, in the layout given; `tensors` keeps their arrays alive.

    `until`: no truth but that of the inputs as given is worked out beyond it.
    """

    until: Allowed

    facts: dict[_Key, ReferenceReply] = field(default_factory=dict)
    truths: dict[_Key, Truth] = field(default_factory=dict)
    tensors: list[tuple[CallTensor, ...]] = field(default_factory=list)
    cast: set[Casts] = field(default_factory=set)  # casts of the reference's by which an answer was right

    def asked(
        self, reference: Reference, variant: Variant, tensors: tuple[CallTensor, ...], wish: CheckOptions
    ) -> ReferenceReply | str:
        """What the reference makes of one of a variant's two sets of tensors, or why it does not take them."""
        layout = layout_of_cotangents(tensors)
        known = self.facts.get(_make_key(tensors)) if variant.rest is None and layout != _STRETCHED else None
        if known is not None:
            request = replace(known.request, tensors=tensors, layout=layout if known.request.cotangents else CONTIGUOUS)
            return replace(known, request=request)
        new = ask_reference(reference, tensors, wish.seed, wish.gradients, variant.rest, wish.contract.grads)
        if _is_plain(variant) and layout == CONTIGUOUS and not isinstance(new, str) and not new.reply.draws:
            self.facts[_make_key(tensors)] = new
            self.tensors.append(tensors)
        return new

    def truth(self, variant: Variant, asked: ReferenceReply, question: TorchQuestion, reply: Reply) -> Truth:
        """The truth of what is asked; a quick one in float32 where that settles it, but of the inputs as given.

        Raises OutOfTime.
        """
        left = Allowed(self.until.left, Clock(alone=True))  # the candidate rests meanwhile
        timed = question if variant.name == GIVEN else replace(question, late=lambda: left.over)
        key = _make_key(asked.request.tensors)
        plain = _is_plain(variant) and asked.request.layout != _STRETCHED and key in self.facts
        if plain and key in self.truths:
            return self.truths[key]
        quick = variant.name != GIVEN and all(DTYPES[k].digits >= FLOAT32_DIGITS for k in question.results if k)
        truths = iter_truths(timed, (_QUICK_NOISE_RUNS, RUNS) if quick else (RUNS,))
        known = next(truths)
        if quick and _is_settled(variant, judge(asked, known, reply)):
            return known
        known = next(truths, known)
        if plain:
            self.truths[key] = known
        return known


def _is_settled(variant: Variant, judgements: Mapping[Mode, Judgement]) -> bool:
    """Whether a quick truth is enough: of rare values where nothing is wrong but by little, of others well within."""
    if variant.rare:
        return not fails(judgements) or is_marginal(variant, judgements)
    return all(j.verdict is Verdict.PASS and j.is_well_within(_WELL_WITHIN_SHARE) for j in judgements.values())


def _is_plain(variant: Variant) -> bool:
    """Whether its values and its other arguments are those given, which later variants may have too."""
    return variant.fill == "normal" and not variant.rare and variant.rest is None


def _make_key(tensors: tuple[CallTensor, ...]) -> _Key:
    return tuple(id(t.values) for t in tensors)


@dataclass(frozen=True)
class PartialCall:
    """A call for a part of the gradients, or for none, that was answered otherwise than the whole."""

    mode: Mode
    asked: ReferenceReply
    reply: Reply
    where: str


@dataclass(frozen=True)
class JudgedVariant:
    """A variant whose reply is judged, and what is made of its judgements from step to step."""

    reference: Reference
    ask: CallFn
    variant: Variant
    wish: CheckOptions
    once: TruthCache
    asked: ReferenceReply
    decoy: ReferenceReply
    replies: Sequence[Reply]  # to other data, to what is asked, and to the other data again
    parts: Sequence[PartialCall]
    question: TorchQuestion
    known: Truth
    judgements: Mapping[Mode, Judgement]

    @property
    def reply(self) -> Reply:
        """The one that is judged."""
        return self.replies[1]

    @property
    def is_given(self) -> bool:
        """Whether these are the inputs as they came."""
        return self.variant.name == GIVEN

    @property
    def fails(self) -> bool:
        """Whether a value or a gradient is wrong."""
        return fails(self.judgements)

    def judge(self, known: Truth) -> dict[Mode, Judgement]:
        """Judge the reply by another truth."""
        return judge(self.asked, known, self.reply)

    def judge_gradients(self, known: Truth) -> Judgement:
        """Judge the gradients alone by another truth."""
        return judge_gradients(self.asked, known, self.reply)

    def with_changed(self, judgements: Mapping[Mode, Judgement]) -> JudgedVariant:
        """Replace some of the judgements."""
        return replace(self, judgements={**self.judgements, **judgements})

    def with_stale(self, advice: Mapping[Mode, str] | None = None) -> VariantResult:
        """Make the result, whose judgements say whether the call was answered exactly as the one before it."""
        stale = bool(self.reply.outputs) and are_alike(self.replies[0].outputs, self.reply.outputs)
        judgements = {m: replace(j, stale=stale) if j.tensors else j for m, j in self.judgements.items()}
        return VariantResult(self.variant, self.asked, self.known, self.reply, judgements, advice=advice or {})

    def with_failure(self, mode: Mode, judgement: Judgement, reply: Reply) -> VariantResult:
        """Make the result of which one mode is wrong, by a reply."""
        return VariantResult(self.variant, self.asked, self.known, reply, {**self.judgements, mode: judgement})


#: What becomes of a judged variant: the same with other judgements, or the result, after which no step follows.
Step = Callable[[JudgedVariant], JudgedVariant | VariantResult]
