"""What a variant that fails needs to fail: others of its sizes, layouts, values and dtype, tried in turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from opproof.cases import Case
from opproof.cases._layouts import layouts_of
from opproof.core.verdicts import Verdict
from opproof.harness.check.judge.outcome import VariantResult
from opproof.harness.check.records import case_of
from opproof.harness.check.tensors import NAMES, CallTensor
from opproof.harness.check.variants.array import CallSpace
from opproof.harness.check.variants.fills import generate_fills
from opproof.harness.check.variants.variant import GIVEN, Pair, Variant, apply_layout_to, has_layout, keep_properties
from opproof.harness.clock import Allowed
from opproof.harness.reference.torch.arithmetic import OutOfTime
from opproof.harness.space.delta import OutOfCallsError, find_delta

#: Seconds that neighbours of one variant may take.
MAX_SECONDS = 5.0
#: Failures whose neighbours take a minute, or all memory, each.
_SLOW = {Verdict.TIMEOUT, Verdict.OUT_OF_MEMORY}


@dataclass(frozen=True)
class VariantNeighbours:
    """Neighbours of a variant as cases: `judge` says what becomes of one, within `allowed` seconds."""

    inputs: CallSpace
    kind: str  # its dtype
    sized: bool  # its tensors may have other sizes
    judge: Callable[[Variant], VariantResult]
    allowed: Allowed

    def fails(self, case: Case) -> bool | None:
        """Whether the variant of a case fails; None where it is none, or nothing follows. Raises OutOfCallsError."""
        if self.allowed.over:
            raise OutOfCallsError
        variant = self._make(case)
        if variant is None:
            return None
        try:
            one = self.judge(variant)
        except OutOfTime:
            raise OutOfCallsError from None
        return None if one.declined else one.fails

    def _make(self, case: Case) -> Variant | None:
        """The variant of a case; None where there is none."""
        one, other = self.inputs.pairs[case.seed // 2 % len(self.inputs.pairs)]
        pair: Pair | None = (other, one) if case.seed % 2 else (one, other)
        shapes = dict(zip((i for i, t in enumerate(one) if not t.param), case.shapes.values(), strict=True))
        if any(len(shape) != len(one[i].shape) for i, shape in shapes.items()):
            return None
        new = {(i, a): n for i, shape in shapes.items() for a, n in enumerate(shape) if n != one[i].shape[a]}
        if new:
            pair = self.inputs.resize(new, {}, pair) if self.sized else None
        made = pair and [self._change(draw, case) for draw in pair]
        if not made or made[0] is None or made[1] is None:
            return None
        return Variant(str(case), case.fill, case.layout, made[0], made[1], rare=True)

    def _change(self, draw: Sequence[CallTensor], case: Case) -> tuple[CallTensor, ...] | None:
        """The draw with the values, the layouts and the dtype of a case."""
        fill = next((fill for fill in generate_fills(draw) if fill.label == case.fill), None)
        if fill is not None:
            draw = keep_properties(draw, fill.change(draw), self.inputs.kept)
        elif case.fill != "normal":
            return None
        laid, made = iter(layouts_of(case).values()), list[CallTensor]()
        for t, has in zip(draw, self.inputs.kept, strict=True):
            layout = "contiguous" if t.param else next(laid)
            changed = apply_layout_to(t, layout, has) if layout != "contiguous" and has_layout(t, layout) else t
            if t.kind == self.kind != case.dtype and not t.param:
                changed = replace(changed, dtype=NAMES[case.dtype]).holding(changed.values)
            made.append(changed)
        return tuple(made)


def add_delta(
    found: Sequence[VariantResult], inputs: CallSpace, judge: Callable[[Variant], VariantResult], *, sized: bool,
    seconds: float,
) -> list[VariantResult]:  # fmt: skip
    """The variants, with what it needs to fail at that which fails and is shown first."""
    failing = [one for one in found if one.fails and not {j.verdict for j in one.judgements.values()} & _SLOW]
    plain = [one for one in failing if one.variant.rest is None and not one.variant.one and not one.variant.drawn]
    first = min(plain, key=_measure_size, default=None)
    if first is None:
        return list(found)
    case = case_of(first.variant, "call")
    neighbours = VariantNeighbours(inputs, case.dtype, sized, judge, Allowed(min(MAX_SECONDS, seconds)))
    try:
        delta = find_delta(case, None, neighbours.fails) if neighbours.fails(case) else None
    except OutOfCallsError:
        delta = None
    said = str(delta) if delta is not None and delta.needed else ""  # that it needs nothing tells little
    return [replace(one, delta=said) if one is first else one for one in found]


def _measure_size(one: VariantResult) -> tuple[bool, int]:
    return one.variant.name != GIVEN, sum(t.values.size for t in one.variant.case_data)
