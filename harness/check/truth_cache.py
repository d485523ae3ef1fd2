"""What a reference makes of inputs, found out once: in other layouts they hold the same, and so does its answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from opproof.core.dtypes import DTYPES
from opproof.core.verdicts import Mode
from opproof.harness.check.call.reference import Reference
from opproof.harness.check.call.reference_reply import ReferenceReply, ask_reference
from opproof.harness.check.judge.compare import fails
from opproof.harness.check.judge.outcome import FLOAT32_DIGITS, is_marginal
from opproof.harness.check.options import JudgingOptions
from opproof.harness.check.tensors import CONTIGUOUS, CallTensor
from opproof.harness.check.variants.variant import GIVEN, Variant
from opproof.harness.clock import Allowed, Clock
from opproof.harness.judge.judgement import Judgement
from opproof.harness.reference.roundoff import RUNS
from opproof.harness.reference.torch.dtype_leaks import Casts
from opproof.harness.reference.torch.evaluate import TorchQuestion, Truth, compute_truth

#: By the arrays that tensors hold, which are the same objects in every layout.
_Key = tuple[int, ...]
#: Layouts in which a tensor holds other values, or its cotangent does.
_STRETCHED = "broadcast"
#: Runs of noise at which what inputs seldom have is judged first: a bound from so few is half or twice as wide.
_QUICK_NOISE_RUNS = 4


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
        self, reference: Reference, variant: Variant, tensors: tuple[CallTensor, ...], manner: JudgingOptions
    ) -> ReferenceReply | str:
        """See `facts`, for one of a variant's two sets of tensors."""
        layout = next((t.layout for t in tensors if t.layout != CONTIGUOUS), CONTIGUOUS)
        known = self.facts.get(_make_key(tensors)) if variant.rest is None and layout != _STRETCHED else None
        if known is not None:
            request = replace(known.request, tensors=tensors, layout=layout if known.request.cotangents else CONTIGUOUS)
            return replace(known, request=request)
        new = ask_reference(reference, tensors, manner.seed, manner.gradients, variant.rest)
        if _is_plain(variant) and layout == CONTIGUOUS and not isinstance(new, str) and not new.reply.draws:
            self.facts[_make_key(tensors)] = new
            self.tensors.append(tensors)
        return new

    def truth(
        self,
        variant: Variant,
        asked: ReferenceReply,
        question: TorchQuestion,
        judged: Callable[[Truth], dict[Mode, Judgement]],
    ) -> Truth:
        """See `truth`. Where values or sizes are rare a quick one suffices for an answer that is right, or nearly.

        Raises OutOfTime.
        """
        left = Allowed(self.until.left, Clock(alone=True))  # the candidate rests meanwhile
        timed = question if variant.name == GIVEN else replace(question, late=lambda: left.over)
        key = _make_key(asked.request.tensors)
        plain = _is_plain(variant) and asked.request.layout != _STRETCHED and key in self.facts
        if plain and key in self.truths:
            return self.truths[key]
        if variant.rare and all(DTYPES[k].digits >= FLOAT32_DIGITS for k in question.results if k):
            quick = compute_truth(timed, _QUICK_NOISE_RUNS)
            judgements = judged(quick)
            if not fails(judgements) or is_marginal(variant, judgements):
                return quick
        known = compute_truth(timed, RUNS)
        if plain:
            self.truths[key] = known
        return known


def _is_plain(variant: Variant) -> bool:
    """Whether its values and its other arguments are those given, which later variants may have too."""
    return variant.fill == "normal" and not variant.rare and variant.rest is None


def _make_key(tensors: tuple[CallTensor, ...]) -> _Key:
    return tuple(id(t.values) for t in tensors)
