"""The search for variants that fail within the budget: which comes next, with which data, and which tell nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, takewhile

import numpy as np

from opproof.core.errors import UsageError
from opproof.core.verdicts import FAILED, OPEN, Verdict
from opproof.harness.check.call.exchange import ReplyTensor, is_near
from opproof.harness.check.call.perform import threads_for
from opproof.harness.check.call.reference import CallFn, Native, Reference
from opproof.harness.check.call.reference_reply import ask_reference
from opproof.harness.check.covering import ArrayOfCheck, generate_multiples
from opproof.harness.check.judge.budget import Pace, can_bear, take_in_time, take_until_refused
from opproof.harness.check.judge.declines import of_candidate, of_reference
from opproof.harness.check.judge.final_pass import LEFT, FinalPass, FinalResult, Unwatched
from opproof.harness.check.judge.judged_variant import TruthCache
from opproof.harness.check.judge.outcome import (
    DeclinedBy,
    VariantResult,
    as_beyond,
    by_candidate,
    is_marginal,
    make_untelling,
)
from opproof.harness.check.neighbours import add_delta
from opproof.harness.check.options import CheckOptions
from opproof.harness.check.run_variant import run_variant
from opproof.harness.check.tensors import CallTensor, kind_of
from opproof.harness.check.triage.beyond_inputs import GivenRange, describe_beyond, describe_rows_of_zeros
from opproof.harness.check.variants.arguments import floors_of, list_shapes, marks_of, numbers_of
from opproof.harness.check.variants.array import CallSpace
from opproof.harness.check.variants.fills import MAX_EPSILON
from opproof.harness.check.variants.generate import (
    generate_long_axis,
    generate_sweep,
    generate_sweep_apart,
    take_as_given,
    take_in_turn,
    variants_of,
)
from opproof.harness.check.variants.properties import Property
from opproof.harness.check.variants.sizes import list_given_sizes, list_sizes
from opproof.harness.check.variants.variant import Pair, Variant, by_turns
from opproof.harness.clock import ENDLESS, Allowed, Clock
from opproof.harness.reference.torch.arithmetic import OutOfTime
from opproof.reports.check import SideTime

#: Variants that fail before no other is tried.
MAX_FAILING_VARIANTS = 4
#: Of the time, what sizes one after the other may take, later draws, axes of tens of thousands, an array of pairs.
_SWEPT_TIME_SHARE = 0.25
_LATER_TIME_SHARE = 0.15
_LONG_AXIS_TIME_SHARE = 0.1
_ARRAY_TIME_SHARE = 0.12
#: What is left of this share when all others were tried is the array's too: a check of milliseconds ends early.
_ARRAY_END_SHARE = 0.6
#: Of the array every so many are asked for gradients: what errs where two properties meet mostly errs in values.
_ARRAY_GRADIENT_STEP = 4
#: And neighbours of one that fails.
_DELTA_TIME_SHARE = 0.25
#: These are shares of so many seconds at most, in which a kernel of milliseconds is looked at in every size.
_MAX_SHARED_SECONDS = 12.0
#: Who gives more seconds has all of them used: variants are drawn until they are over.
_MAX_PLANNED_SECONDS = 60.0
#: What was begun in time may take until so many times the time; what was seen after it so long.
_OVERTIME_FACTOR = 1.25
_LATE_TIME_FACTOR = 1.0
#: A call of the reference takes no longer than this share of it, but with the inputs given: it may follow numbers that
#: were changed round and round. Nor longer than so many times what it took with these, by the work, and than a second.
_REFERENCE_TIME_SHARE = 0.25
_MAX_SLOWDOWN = 100.0
_MIN_PATIENCE_SECONDS = 1.0
#: What is said of that where there was no time to judge it.
_SEEN = " (another answer than PyTorch's own)"


@dataclass(frozen=True)
class SearchResult:
    """What was tried, the inputs as given first, and the names of what there was no time for.

    `asked`: how many variants of those that were planned were tried, whoever declined them.
    """

    tried: list[VariantResult]
    left: tuple[str, ...]
    asked: int = 0
    advisories: tuple[str, ...] = ()  # what is no failure, and may be said
    notes: tuple[str, ...] = ()  # what is no failure by the contract, and told
    times: tuple[SideTime, ...] = ()  # of the candidate and of PyTorch, where they are asked for

    @property
    def names(self) -> tuple[str, ...]:
        """Of the variants that were judged."""
        return tuple(one.variant.name for one in self.tried if not one.declined)


@dataclass(frozen=True)
class SearchSpace:
    """What is tried of one form of inputs: pairs of draws, what variants keep of them, and what is tried beside."""

    pairs: Sequence[Pair]
    kept: Sequence[Sequence[Property]]  # what each tensor is in every draw, and in every variant
    by_shape: bool
    is_factory: bool  # a factory's, each of which then has data of its own
    isolated: bool = False  # the candidate has a process of its own, where it may read past a tensor that is too short
    otherwise: Sequence[Variant] = ()  # draws with other plain arguments
    options: Mapping[str, Mapping[str, tuple[object, ...]]] = field(default_factory=dict)  # numbers that divide sizes
    exchanged: Sequence[Variant] = ()  # with two of them exchanged, tried at no other size
    further: Iterable[Variant] = ()  # what is drawn and tried last
    numbered: Iterable[Variant] = ()  # other numbers beside tensors, looked at one by one after it
    later: Iterable[Variant] = ()  # later draws, looked at so too
    shaped: Mapping[int, Pair] = field(default_factory=dict)  # by seed: other shapes, whose sizes are
    ranges: Mapping[str, GivenRange] = field(default_factory=dict)  # of inputs by name: where all that were given lie

    @property
    def first(self) -> tuple[CallTensor, ...]:
        """The inputs as given."""
        return self.pairs[0][0]


class VariantSearch:
    """The search for variants that fail: every variant of a space, within the budget of a check."""

    def __init__(self, reference: Reference, ask: CallFn, space: SearchSpace, wish: CheckOptions) -> None:
        self.clock, self.found = Clock(), list[VariantResult]()
        self.names, self.left = list[str](), list[str]()
        self.reference, self.ask, self.space, self.wish = reference, ask, space, wish
        self.pace = Pace(space.first)
        self.once = TruthCache(ENDLESS if wish.only else Allowed(_OVERTIME_FACTOR * wish.seconds, self.clock))
        self.late = self.once
        self.bounded = reference if wish.only else replace(reference, patience=_REFERENCE_TIME_SHARE * wish.seconds)
        self.drawn = {tuple(list_shapes(draw)) for pair in space.pairs for draw in pair}

    def run(self, standalone: Unwatched | None = None) -> SearchResult:
        """Try the variants. `standalone` asks the candidate from a standalone script.

        Raises UsageError where the reference declines the inputs as given, or where none has the name asked for, and
        OutOfTime where there is no time for one.
        """
        found, wish = self.found, self.wish
        for same in take_until_refused(self._generate()):
            begun = self.clock.spent
            self.names.append(same[0].name)
            if self._is_needless(same[0]):
                continue
            if self._try_in_time(same, begun) and self._is_over():
                break
        if not found:
            names = ", ".join(self.names)
            raise UsageError(f"only={wish.only!r} is no variant of these inputs: expected one of {names}.")
        last = FinalResult(found)
        if (wish.neighbours or wish.last) and not any(t.fails for t in found):
            with suppress(OutOfTime):
                last = FinalPass(self.ask, self.bounded, wish, self.space.isolated).run(found, self.clock, standalone)
        left, tried = (*([LEFT] if wish.calls.refused else last.left), *self.left), last.tried
        if wish.neighbours and wish.only is None:
            inputs = CallSpace(self.space.pairs, self.space.kept, ())
            sized = self.space.is_factory or self.space.by_shape
            seconds = _DELTA_TIME_SHARE * wish.seconds
            with suppress(OutOfTime):
                tried = add_delta(tried, inputs, lambda variant: self._try((variant,)), sized=sized, seconds=seconds)
        return SearchResult(tried, left, len(found), last.advisories)

    def _generate(self) -> Iterator[tuple[Variant, ...]]:
        """Make the variants in the order in which they are tried, each with the same of other data."""
        space = self.space
        named, contract = (self.reference.subject, self.reference.form.arguments.rest), self.wish.contract
        numbers = numbers_of(*named) | contract.list_restricted_sizes(space.first)

        def make() -> Iterator[tuple[Variant, ...]]:
            """Make others, which take longer than one call, once the inputs as given were tried."""
            yield take_as_given(space.pairs)
            others = list_sizes(space.first, numbers, parted=space.isolated) if space.is_factory else []
            if space.is_factory or space.by_shape:
                others = [*list_given_sizes(space.first, contract.list_other_sizes(space.first)), *others]
            marks, floors = marks_of(self.reference.subject), floors_of(*named)
            form = space.pairs, space.kept, space.by_shape, others, space.otherwise, floors, numbers, marks
            yield from variants_of(*form, space.exchanged)[1:]

        turned = take_in_turn(make()) if space.is_factory else make()
        last = takewhile(lambda _: self.clock.spent < self.wish.seconds, space.further)
        inputs = CallSpace(space.pairs, space.kept, (), space.otherwise, space.options)
        sized = space.is_factory or space.by_shape
        array = ArrayOfCheck(self.bounded, self.ask, self.wish, inputs, numbers, sized=sized, by_shape=space.by_shape)
        more = generate_multiples(self.found, inputs) if sized else ()
        odd = chain.from_iterable(self._generate_odd(numbers, array))
        return chain(turned, ((v,) for v in chain(more, last, odd)))

    def _generate_odd(self, numbers: frozenset[float], array: ArrayOfCheck) -> Iterator[Iterator[Variant]]:
        """Yield later draws, long axes, sizes one by one, an array, where the candidate's answer is clearly another."""
        space, wish, wanted = self.space, self.wish, self._is_wanted
        others = (generate_sweep_apart(p, seed, space.kept, numbers, wanted) for seed, p in space.shaped.items())
        many = by_turns(
            generate_sweep(space.pairs, space.kept, numbers, space.otherwise, wanted),
            (v for v in space.numbered if wanted(v.name)),
            chain.from_iterable(others),
        )
        draws = (v for v in space.later if wanted(v.name))
        planned = wish.seconds <= _MAX_PLANNED_SECONDS
        shared = math.inf if wish.only else min(wish.seconds, _MAX_SHARED_SECONDS) if planned else wish.seconds
        array_variants = array.generate(array.cover(), _ARRAY_TIME_SHARE * shared, self._is_new)
        bears = partial(can_bear, self.bounded, self.ask, wish)
        long = generate_long_axis(space.pairs[0], space.kept, numbers, bears, wanted) if space.isolated else ()
        odd = [(draws, _LATER_TIME_SHARE), (long, _LONG_AXIS_TIME_SHARE), (many, _SWEPT_TIME_SHARE)]
        for variants, share in odd:
            yield find_differing(self.bounded, self.ask, takewhile(self._is_right, variants), wish, share * shared)
        most, some = _ARRAY_TIME_SHARE * shared, takewhile(self._is_right, array_variants)
        most = max(most, _ARRAY_END_SHARE * shared - self.clock.spent)
        yield find_differing(self.bounded, self.ask, some, wish, most, _ARRAY_GRADIENT_STEP)
        if wish.only or not planned:
            left = math.inf if wish.only else wish.seconds - self.clock.spent
            drawn = takewhile(self._is_right, array.generate(array.draw_on(), left, self._is_new))
            yield find_differing(self.bounded, self.ask, drawn, wish, left, _ARRAY_GRADIENT_STEP)

    def _is_right(self, _: object) -> bool:
        """Say whether nothing has failed so far: what inputs seldom are is needless then."""
        return not any(t.fails for t in self.found)

    def _is_wanted(self, name: str) -> bool:
        return self.space.is_factory and self._is_new(name)

    def _is_new(self, name: str) -> bool:
        """Say whether a name was not judged already: the same size may be among the others."""
        return self.wish.only in (None, name) and all(t.variant.name != name for t in self.found)

    def _is_needless(self, variant: Variant) -> bool:
        """Whether it is not to be answered, or asked for, or is of a group that has one, or rare after a failure."""
        if self.wish.contract.describe_refusal(variant.case_data or self.space.first):
            return True
        if self.wish.only is not None:
            return variant.name != self.wish.only
        judged = [t.variant for t in self.found if not t.declined]
        if {variant.group, variant.unless} & {v.group for v in judged} - {""}:
            return True
        if variant.instead and any(v.name == variant.instead for v in judged):
            return True
        return variant.rare and any(t.fails for t in self.found)

    def _is_over(self) -> bool:
        """Whether enough failed, the first raised, or nothing else was asked for.

        Of a name there is one variant, but where the reference does not take it.
        """
        raised = any(j.verdict is Verdict.ERROR for j in self.found[0].judgements.values())
        if raised or sum(t.fails for t in self.found) >= MAX_FAILING_VARIANTS:
            return True
        return not self.wish.neighbours if self.wish.only is None else not self.found[-1].declined

    def _try_in_time(self, same: Sequence[Variant], begun: float) -> bool:
        """Try a variant taken up at `begun`, and say whether it has a result: what there is no time for is left."""
        first = same[0]
        if self.found and not first.seen and begun + self.pace.seconds(first.case_data) > self.wish.seconds:
            self.left.append(first.name)
            return False
        try:
            one = self._try(same)
        except OutOfTime:
            if not self.found:
                raise
            self.left.append(f"{first.name}{_SEEN if first.seen else ''}")
            return False
        given_up = bool(one.declined) and one.by is DeclinedBy.REFERENCE  # which tells nothing of the others
        if self.found and not given_up:  # the first has the start of a process in it
            self.pace.record_seconds(first.case_data, self.clock.spent - begun)
        if not self.found and one.declined and self.wish.only is None:
            raise UsageError(f"{one.declined}: give inputs that the reference takes.")
        self.found.append(one)
        return True

    def _try(self, same: Sequence[Variant]) -> VariantResult:
        """Try a variant, with other data where rounding may lead the reference other ways, so that nothing is known.

        One that was seen to differ has time of its own. Raises OutOfTime.
        """
        wish, seen, given = self.wish, same[0].seen, self.space.first
        if seen and self.late is self.once and wish.only is None:
            self.late = replace(self.once, until=Allowed(_LATE_TIME_FACTOR * wish.seconds))
        usual = self.found[0] if self.found else None
        side = self.reference if usual is None else self._limit_patience(usual, self.pace.growth_of(same[0].case_data))
        once = self.late if seen else self.once
        for variant in same:
            is_drawn = variant.drawn or tuple(list_shapes(variant.case_data)) in self.drawn  # it means what draws mean
            with threads_for(variant.case_data):
                said = None if is_drawn else of_reference(side, given, variant, wish)
                one = said or of_candidate(
                    run_variant(side, self.ask, variant, wish, once), given, usual, drawn=is_drawn
                )
            verdicts = {j.verdict for j in one.judgements.values()}
            if Verdict.INCONCLUSIVE not in verdicts or verdicts & FAILED:
                break
        open_ = bool(verdicts & OPEN) and not one.fails
        if (one.variant.rare and open_) or is_marginal(one.variant, one.judgements):
            return make_untelling(one.variant)
        return one if wish.beyond or one.variant.drawn or not one.fails else self._leave_beyond(one)

    def _leave_beyond(self, one: VariantResult) -> VariantResult:
        """Take what is wrong for no failure where no given input lies."""
        tensors = one.variant.case_data
        if why := describe_beyond(self.space.ranges, tensors):
            return as_beyond(one, why)
        named = self.reference.subject, self.reference.form.arguments.rest
        draws = [draw for pair in self.space.pairs for draw in pair]
        has_floor = any(0 < number <= MAX_EPSILON for number in floors_of(*named))
        why = describe_rows_of_zeros(one, draws, has_floor=has_floor)
        return by_candidate(one.variant, why, news=True) if why else one

    def _limit_patience(self, given: VariantResult, growth: float) -> Reference:
        """The reference with the patience for so many times the work that the inputs given are."""
        own = 0.0 if given.facts is None else given.facts.reply.seconds
        most = max(_MIN_PATIENCE_SECONDS, _MAX_SLOWDOWN * own * growth)
        return replace(self.bounded, patience=min(self.bounded.patience, most))


#: Of the largest element, more than rounding in 16 bits; and in float32, where it is little that PyTorch loses itself.
_ROUNDING_SHARE_OF_16_BITS = 2.0**-5
_ROUNDING_SHARE_OF_FLOAT32 = 2.0**-12
#: Dtypes in which an answer is rounded to no more than that.
_NARROW_DTYPES = frozenset(("f16", "bf16", "f8e4m3", "f8e5m2"))
#: Whose time or memory is over.
_SPENT = frozenset((Verdict.TIMEOUT, Verdict.OUT_OF_MEMORY))


def find_differing(
    reference: Native, ask: CallFn, variants: Iterable[Variant], wish: CheckOptions, seconds: float, step: int = 1
) -> Iterator[Variant]:
    """Those at which the candidate's answer is clearly another, which a judge then decides, begun in so many seconds.

    Gradients are asked for at the first of every `step`.

    Who does not take one, or dies of it where tensors are in a process of its own, is judged as at other sizes. Each
    that is judged and goes on doubles what counts as another answer: so much was rounding.
    """
    other = 0.0
    for place, variant in enumerate(take_in_time(seconds, variants)):
        given = variant.case_data, wish.seed, wish.gradients and place % step == 0, variant.rest
        asked = ask_reference(reference, *given, wish.contract.grads)
        if isinstance(asked, str):
            continue
        other = other or _estimate_rounding(variant, asked.outputs)
        reply = ask(asked.request)
        if reply.error:
            if reply.cause is not Verdict.ERROR and not (variant.vast and reply.cause in _SPENT):
                yield replace(variant, seen=True)
        elif _is_other(asked.outputs, reply.outputs, other) or _is_other(asked.reply.gradients, reply.gradients, other):
            yield replace(variant, seen=True)
            other = min(2 * other, _ROUNDING_SHARE_OF_16_BITS)


def _estimate_rounding(variant: Variant, outputs: Sequence[ReplyTensor]) -> float:
    """What is more than rounding, of the largest element."""
    kinds = {*(t.kind for t in variant.case_data), *(kind_of(y.dtype) for y in outputs)}
    return _ROUNDING_SHARE_OF_16_BITS if kinds & _NARROW_DTYPES else _ROUNDING_SHARE_OF_FLOAT32


def _is_other(wanted: Sequence[ReplyTensor | None], got: Sequence[ReplyTensor | None], other: float) -> bool:
    """Whether tensors of the same shapes hold clearly other numbers."""
    pairs = [(w, g) for w, g in zip(wanted, got, strict=False) if w is not None and g is not None]
    return any(w.values.shape == g.values.shape and (_is_nan(g, w) or not is_near(w, g, other)) for w, g in pairs)


def _is_nan(got: ReplyTensor, wanted: ReplyTensor) -> bool:
    """Whether something is NaN that is a number in the reference."""
    floats = got.values.dtype.kind == wanted.values.dtype.kind == "f"
    return floats and bool(np.any(np.isnan(got.values) & ~np.isnan(wanted.values)))
