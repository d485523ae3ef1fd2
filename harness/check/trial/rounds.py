"""Every variant tried within the budget, with other data where noise decides, and which of them tell nothing."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, takewhile
from types import MappingProxyType

from opproof.harness.check.doubts.slight import slight
from opproof.harness.check.questions.changed import Pair
from opproof.harness.check.questions.draws import in_turn, swept, swept_apart, variants_of
from opproof.harness.check.questions.numbers import floors_of, marks_of, numbers_of
from opproof.harness.check.questions.properties.kinds import Property
from opproof.harness.check.questions.sizes import sizes
from opproof.harness.check.questions.stretched import steps, stretched, uneven
from opproof.harness.check.questions.variants import Variant, by_turns
from opproof.harness.check.refusals import is_complaint
from opproof.harness.check.sides.reference import Ask, Reference
from opproof.harness.check.sides.unwatched import Unwatched
from opproof.harness.check.tensors import CONTIGUOUS, Tensor
from opproof.harness.check.trial.closing import closing
from opproof.harness.check.trial.manner import Manner
from opproof.harness.check.trial.once import Once
from opproof.harness.check.trial.outcome import Tried, by_candidate, by_reference, nothing
from opproof.harness.check.trial.pace import Pace
from opproof.harness.check.trial.swept import differing
from opproof.harness.check.trial.tried import tried
from opproof.harness.check.wish import Wish
from opproof.harness.truth.torch.arithmetic import OutOfTime
from opproof.vocabulary.errors import UsageError
from opproof.vocabulary.modes import Mode
from opproof.vocabulary.verdicts import FAILED, OPEN, Verdict

#: Variants that fail before no other is tried.
FAILING = 4
#: Of the time, what sizes one after the other may take, and later draws.
_ONE_BY_ONE, _LATER = 0.25, 0.15
#: What was begun in time may take until so many times the time; what was seen after it so long.
_OVER, _AFTER = 1.25, 1.0
#: What is said of that where there was no time to judge it.
_SEEN = " (another answer than PyTorch's own)"
#: By which a candidate shows that it does not take a size.
_REFUSALS = frozenset((Verdict.ERROR, Verdict.WRONG_SHAPE, Verdict.CRASH))
#: What nobody raises to say that values are not taken.
_ACCIDENTS = frozenset(
    ("MemoryError", "OutOfMemoryError", "SkipTest", "IndexError", "KeyError", "ZeroDivisionError", "OverflowError")
)
#: What a kernel, or what it calls, says of how its tensors lie.
_OF_MEMORY = ("contiguous", "storage_offset", "with stride", "a stride", "aligned")


@dataclass(frozen=True)
class Rounds:
    """What was tried, the inputs as given first, and the names of what there was no time for."""

    tried: list[Tried]
    left: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Of the variants that were judged."""
        return tuple(one.variant.name for one in self.tried if not one.declined)


def every_variant(
    reference: Reference,
    ask: Ask,
    pairs: Sequence[Pair],
    kept: Sequence[Sequence[Property]],
    by_shape: bool,
    wish: Wish,
    *,
    own: bool,
    apart: bool = False,
    otherwise: Sequence[Variant] = (),
    further: Iterable[Variant] = (),
    numbered: Iterable[Variant] = (),
    later: Iterable[Variant] = (),
    shaped: Mapping[int, Pair] = MappingProxyType({}),
    alone: Unwatched | None = None,
) -> Rounds:
    """Every variant of pairs of draws, within the budget; `own`: a factory's, each of which then has data of its own.

    `apart`: the candidate is in a process of its own, where it may read past a tensor that is shorter than it expects.
    `kept`: what each tensor is in every draw, and in every variant. `otherwise`: draws with other plain arguments;
    `further`: what is drawn and tried last; `numbered` and `later`: other numbers beside tensors, and later draws,
    looked at one by one after it; `shaped`: by seed draws of other shapes, whose sizes are.
    `alone`: what asks the candidate where nobody judges.
    """
    start, found, manner = time.monotonic(), list[Tried](), wish.manner
    first, names, left = pairs[0][0], list[str](), list[str]()
    pace, once = Pace(first), Once(math.inf if wish.only else time.perf_counter() + _OVER * wish.seconds)
    late = once
    named = reference.subject, reference.form.arguments.rest
    numbers = numbers_of(*named)
    others = sizes(first, numbers, parted=apart) if own else []
    marks = marks_of(reference.subject)
    made = variants_of(pairs, kept, by_shape, others, otherwise, floors_of(*named), numbers, marks)
    turned = (in_turn(some, i) if own else some for i, some in enumerate(made))
    last = takewhile(lambda _: time.monotonic() - start < wish.seconds, further)

    def wanted(name: str) -> bool:
        """Not what was judged already: the same size may be among the others."""
        return own and wish.only in (None, name) and all(t.variant.name != name for t in found)

    many = by_turns(
        swept(pairs, kept, numbers, otherwise, wanted),
        (v for v in numbered if wanted(v.name)),
        (v for seed, pair in shaped.items() for v in swept_apart(pair, seed, kept, numbers, wanted)),
    )
    draws = (v for v in later if wanted(v.name))
    shares = ((draws, _LATER), (many, _ONE_BY_ONE))
    odd = (differing(reference, ask, v, manner, math.inf if wish.only else s * wish.seconds) for v, s in shares)
    for same in chain(turned, ((v,) for v in chain(last, *odd))):
        begun = time.monotonic()
        names.append(same[0].name)
        if _is_needless(same[0], found, wish):
            continue
        if found and not wish.neighbours:
            break
        if found and not same[0].seen and begun - start + pace.seconds(same[0].asked) > wish.seconds:
            left.append(same[0].name)
            continue
        try:
            if same[0].seen and late is once and wish.only is None:
                late = replace(once, until=time.perf_counter() + _AFTER * wish.seconds)
            known = late if same[0].seen else once
            one = _of_some(reference, ask, same, first, manner, known, found[0] if found else None)
        except OutOfTime:
            left.append(f"{same[0].name}{_SEEN if same[0].seen else ''}")
            continue
        if found:  # the first has the start of a process in it
            pace.took(same[0].asked, time.monotonic() - begun)
        if not found and one.declined and wish.only is None:
            raise UsageError(f"{one.declined}: give inputs that the reference takes.")
        found.append(one)
        if _is_enough(found):
            break
    if found and (wish.neighbours or wish.last) and not any(map(_fails, found)):
        found, not_asked = closing(found, ask, reference, wish, start, apart=apart, alone=alone)
        left[:0] = not_asked
    if not found:
        raise UsageError(f"only={wish.only!r} is no variant of these inputs: expected one of {', '.join(names)}.")
    return Rounds(found, tuple(left))


def _is_needless(variant: Variant, found: Sequence[Tried], wish: Wish) -> bool:
    """Whether it is not the one asked for, or of a group that has one, or rare after something was wrong."""
    if wish.only is not None:
        return variant.name != wish.only
    if {variant.group, variant.unless} & {t.variant.group for t in found if not t.declined} - {""}:
        return True
    return variant.rare and any(map(_fails, found))


def _is_enough(found: Sequence[Tried]) -> bool:
    """Whether the first raised, or enough failed."""
    raised = any(j.verdict is Verdict.ERROR for j in found[0].judgements.values())
    return raised or sum(map(_fails, found)) >= FAILING


def _of_some(
    reference: Reference,
    ask: Ask,
    same: Sequence[Variant],
    given: Sequence[Tensor],
    manner: Manner,
    once: Once,
    usual: Tried | None,
) -> Tried:
    """One variant tried, with other data where rounding may lead the reference other ways, so that nothing is known."""
    for variant in same:
        said = _of_sizes(reference, given, variant, manner)
        one = said or _made_for(tried(reference, ask, variant, manner, once), given, usual)
        if not _open(one):
            break
    open_ = bool({j.verdict for j in one.judgements.values()} & OPEN) and not _fails(one)
    if (one.variant.rare and open_) or slight(one.variant, one.judgements):
        return nothing(one.variant)
    return one


def _made_for(one: Tried, given: Sequence[Tensor], usual: Tried | None) -> Tried:
    """A variant; declined where the candidate shows that it is made for a factory's sizes, or does not take this one.

    `usual`: what became of the inputs as given; None of these themselves, as an error is the candidate's whole answer
    then and no refusal of a neighbour.
    """
    forward = one.judgements.get(Mode.FORWARD)
    if forward is None:
        return one
    if one.variant.apart and _fails(one) and not {j.verdict for j in one.judgements.values()} & _REFUSALS:
        why = "the candidate gives something else there: it is made for tensors of one size, or wrong"
        if one.variant.stretched:
            why = "the candidate takes what it is to stretch, and has other gradients there"
        return by_candidate(one.variant, why, news=not one.variant.stretched or forward.verdict not in FAILED)
    raised = next((j for j in one.judgements.values() if j.verdict is Verdict.ERROR), None)
    if one.variant.apart and raised is not None:
        return by_candidate(one.variant, f"the candidate declines: {raised.message}", news=raised is not forward)
    why, dies, laid = "", forward.verdict is Verdict.CRASH, one.variant.layout != CONTIGUOUS
    if one.variant.group and ((dies and one.variant.apart) or _is_of_given_sizes(one, forward.verdict, usual)):
        why = f"the candidate is made for the sizes given: {forward.message}"
    elif forward.verdict is Verdict.WRONG_SHAPE and _is_of_nothing(one):
        why = f"of nothing the candidate has another result: {forward.message}"
    elif forward.verdict is Verdict.ERROR and _is_accident(forward.message, one.variant, given):
        return one
    elif forward.verdict is Verdict.ERROR and (_refused(forward.message) if laid else usual is not None):
        why = f"the candidate declines: {forward.message}"
    return by_candidate(one.variant, why, news=dies) if why else one


def _is_of_given_sizes(one: Tried, verdict: Verdict, usual: Tried | None) -> bool:
    """Whether a result has another shape, and along each axis the size that it has as given, or that it is to have."""
    if verdict is not Verdict.WRONG_SHAPE or one.facts is None or usual is None or usual.facts is None:
        return verdict is Verdict.WRONG_SHAPE
    shapes = [[y.values.shape for y in some] for some in (one.reply.outputs, one.facts.outputs, usual.facts.outputs)]
    if len({len(some) for some in shapes}) > 1:
        return True
    return all(
        any(len(got) != len(one) for one in others) or all(n in pair for n, *pair in zip(got, *others, strict=True))
        for got, *others in zip(*shapes, strict=True)
    )


def _is_of_nothing(one: Tried) -> bool:
    """Whether a size is 0: PyTorch itself has a convolution of no channels give none, whatever its weights have."""
    return any(0 in t.shape for t in one.variant.asked)


def _is_accident(message: str, variant: Variant, given: Sequence[Tensor]) -> bool:
    """Whether what was raised is no refusal, of other values in tensors that are as given for the rest.

    Such sizes have been answered, so there is memory for them, and a table is read past its end.
    """
    alike = all((a.shape, a.dtype) == (b.shape, b.dtype) for a, b in zip(variant.asked, given, strict=True))
    return alike and variant.rest is None and message.partition(":")[0] in _ACCIDENTS


def _refused(message: str) -> bool:
    """Whether it was raised on purpose, as by an assertion, and not by a view that strides forbid."""
    _, _, said = message.partition(":")
    of_memory = any(word in said for word in _OF_MEMORY)
    return is_complaint(message) or (of_memory and "view size" not in said)


def _of_sizes(reference: Reference, given: Sequence[Tensor], variant: Variant, manner: Manner) -> Tried | None:
    """What to say where a reference means something else at these sizes than at those given, or no draw has them."""
    if not variant.asked:
        why = "no two draws can be brought to this size: inputs() draws others, or values that cannot be so there"
        return Tried(variant, declined=why)
    pairs = [(a, b) for a, b in zip(given, variant.asked, strict=True) if a.shape != b.shape]
    if not pairs or variant.rest is not None or variant.stretched:
        return None
    before, after = (steps(reference, tuple(some), manner.seed) for some in (given, variant.asked))
    name = stretched(before, after)  # of 3 a half is 1, as what is left of 8 and 3 beside eleven taps
    why = f"{name} stretches an axis of size 1, which it does not as given" if name else ""
    if uneven(before, after):
        why = "it joins pieces of several sizes, which are alike as given"
    return by_reference(variant, why) if why else None


def _open(tried: Tried) -> bool:
    verdicts = {j.verdict for j in tried.judgements.values()}
    return Verdict.INCONCLUSIVE in verdicts and not verdicts & FAILED


def _fails(tried: Tried) -> bool:
    return any(j.verdict in FAILED for j in tried.judgements.values())
