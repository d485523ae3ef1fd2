"""The covering array of a check: both sides are asked which sizes they take, then its variants come one by one."""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from opproof.harness.check.call.exchange import CallRequest
from opproof.harness.check.call.reference import CallFn, Reference
from opproof.harness.check.judge.budget import Pace, measure_cost
from opproof.harness.check.judge.declines import of_reference
from opproof.harness.check.judge.outcome import VariantResult
from opproof.harness.check.options import CheckOptions
from opproof.harness.check.variants.array import CallSpace
from opproof.harness.check.variants.axes import SizeAxis, find_axes
from opproof.harness.check.variants.sizes import Place, make_rare_size, places_of, shapes_of
from opproof.harness.check.variants.variant import GIVEN, Variant
from opproof.harness.clock import Allowed, Clock
from opproof.harness.space.pairs import Choice

#: The part of the time of an array in which sides are asked for sizes, and that one variant may take.
_ASKING_SHARE = 0.25
_VARIANT_SHARE = 0.2
#: Sizes at which both sides are measured; the growth of elements above which an axis is squared, and that of calls
#: from which on each place has one of its own. Such an axis is no longer than this.
_MEASURED_SIZES = (128, 256)
_LINEAR_GROWTH = 2.5
_STEADY_CALLS = 1.5
_SMALL_SIZE = 300
#: Variants of whose rates the least tells how long the next will take: one of them may have been judged.
_RATES = 3
#: What is said of a candidate that refuses a size, a number in it, and fourths of a multiple of it that are tried.
_REFUSAL = "the candidate declines: "
_NUMBER = re.compile(r"\d+")
_FOURTHS = (2, 8, 5, 32)


@dataclass(frozen=True)
class ArrayOfCheck:
    """The covering array of one check, and what is drawn beside it. `sized`: its inputs may have other sizes."""

    reference: Reference
    ask: CallFn
    wish: CheckOptions
    inputs: CallSpace
    named: frozenset[float]
    sized: bool
    by_shape: bool

    @cached_property
    def space(self) -> CallSpace:
        """What varies: axes that both sides take at other sizes, each up to what they bear."""
        allowed = Allowed(math.inf if self.wish.only else _ASKING_SHARE * self.wish.seconds)

        def takes(new: Mapping[Place, int]) -> bool:
            return not allowed.over and self._takes(new)

        axes = find_axes(self.inputs.given, self.named, takes, by_shape=self.by_shape) if self.sized else []
        return replace(self.inputs, axes=tuple(map(self._measure, axes)))

    def cover(self) -> Iterator[Choice]:
        """The choices of the array."""
        yield from self.space.cover(self.wish.seed)

    def draw_on(self) -> Iterator[Choice]:
        """Choices beside it, at random."""
        yield from self.space.draw_on(self.wish.seed)

    def _at(self, new: Mapping[Place, int]) -> Variant | None:
        both = self.inputs.resize(new, {}) if new else None
        return both and Variant("size", "normal", "contiguous", *both, rare=True)

    def _takes(self, new: Mapping[Place, int]) -> bool:
        """Whether both sides answer at these sizes, and the reference means the same."""
        variant = self._at(new)
        if variant is None or self.wish.contract.describe_refusal(variant.case_data):
            return False
        if of_reference(self.reference, self.inputs.given, variant, self.wish) is not None:
            return False
        request = CallRequest(variant.case_data, seed=self.wish.seed)
        return not self.reference.call_native(request).error and not self.ask(request).error

    def _measure(self, axis: SizeAxis) -> SizeAxis:
        """The axis with how work grows along it: with its square, or by calls of their own for each place."""
        variants = [self._at(axis.resize(-(-n // axis.step) * axis.step)) for n in _MEASURED_SIZES]
        requests = [CallRequest(v.case_data, seed=self.wish.seed) for v in variants if v]
        for side in (self.reference.call_native, self.ask) if len(requests) == len(variants) else ():
            (few, calls), (many, more) = (measure_cost(side, request) for request in requests)
            axis = replace(axis, square=axis.square or many > _LINEAR_GROWTH * few)
            if more > _STEADY_CALLS * calls:
                axis = replace(axis, most=min(_SMALL_SIZE, axis.most))
        return axis

    def generate(self, choices: Iterable[Choice], seconds: float, wanted: Callable[[str], bool]) -> Iterator[Variant]:
        """The variants of these choices that may be made in time, by how long the ones before took."""
        clock, pace, rates = Clock(), Pace(self.inputs.given), deque[float](maxlen=_RATES)
        for choice in choices:
            name = self.space.name_of(choice)
            variant = self.space.make(choice) if name != GIVEN and wanted(name) else None
            if variant is None or self.wish.contract.describe_refusal(variant.case_data):
                continue
            work = pace.work_of(variant.case_data)
            if rates and min(rates) * work > _VARIANT_SHARE * seconds:
                rates.popleft()
                continue
            begun = clock.spent
            yield variant
            rates.append((clock.spent - begun) / work)


def generate_multiples(found: Iterable[VariantResult], inputs: CallSpace) -> Iterator[Variant]:
    """Sizes that a candidate may take who refused another with a number: other multiples of it."""
    given, seen = shapes_of(inputs.given), set[tuple[int, int]]()
    for one in found:
        if not one.declined.startswith(_REFUSAL) or shapes_of(one.variant.case_data) == given:
            continue
        for m in {int(text) for text in _NUMBER.findall(one.declined)} - {0, 1}:
            seen |= {(n, m) for shape in given for n in shape if n and n % m == 0}
    for n, m in sorted(seen):
        for new in (n * k // 4 for k in _FOURTHS if n * k % (4 * m) == 0):
            size = make_rare_size({n: new}, {n: places_of(n, given)})
            if (both := inputs.resize(size.new, {})) is not None:
                name = f"{size.name} (a multiple of {m})"
                yield Variant(name, "normal", "contiguous", *both, group=name, rare=True)
