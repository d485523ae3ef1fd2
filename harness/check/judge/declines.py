"""Who does not take a variant: the reference, which means something else there, or a candidate made for others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from opproof.core.verdicts import FAILED, Mode, Verdict
from opproof.harness.check.call.exchange import CallRequest, is_complaint
from opproof.harness.check.call.reference import Native, Reference
from opproof.harness.check.judge.outcome import VariantResult, by_candidate, by_reference
from opproof.harness.check.options import CheckOptions
from opproof.harness.check.tensors import CONTIGUOUS, CallTensor
from opproof.harness.check.variants.sizes import find_parted
from opproof.harness.check.variants.variant import GIVEN, Variant
from opproof.harness.reference.torch.intercept import with_intercepted_operations
from opproof.harness.reference.torch.linear_algebra import SIZES, with_reported_contractions

#: By which a candidate shows that it does not take a size.
_REFUSALS = frozenset((Verdict.ERROR, Verdict.WRONG_SHAPE, Verdict.CRASH))
#: What nobody raises to say that values are not taken.
_ACCIDENTS = frozenset(
    ("MemoryError", "OutOfMemoryError", "SkipTest", "IndexError", "KeyError", "ZeroDivisionError", "OverflowError")
)
#: What a kernel, or what it calls, says of how its tensors lie.
_OF_MEMORY = ("contiguous", "storage_offset", "with stride", "a stride", "aligned")


def of_candidate(
    one: VariantResult, given: Sequence[CallTensor], usual: VariantResult | None, *, drawn: bool = False
) -> VariantResult:
    """A variant; declined where the candidate shows that it is made for a factory's sizes, or does not take this one.

    `usual`: what became of the inputs as given; None where that is not known. An error of these themselves is the
    candidate's whole answer, and no refusal of a neighbour. `drawn`: some draw has its shapes.
    """
    forward = one.judgements.get(Mode.FORWARD)
    if forward is None:
        return one
    if one.variant.apart and one.fails and not {j.verdict for j in one.judgements.values()} & _REFUSALS:
        made_for = "tensors of one size" if one.variant.rest is None else "numbers in the order that all draws have"
        why = f"the candidate gives something else there: it is made for {made_for}, or wrong"
        if one.variant.stretched:
            why = "the candidate takes what it is to stretch, and has other gradients there"
        return by_candidate(one.variant, why, news=not one.variant.stretched or forward.verdict not in FAILED)
    raised = next((j for j in one.judgements.values() if j.verdict is Verdict.ERROR), None)
    if one.variant.apart and raised is not None:
        return by_candidate(one.variant, f"the candidate declines: {raised.message}", news=raised is not forward)
    why, dies, laid = "", forward.verdict is Verdict.CRASH, one.variant.layout != CONTIGUOUS
    if one.variant.rare and Verdict.OUT_OF_MEMORY in {j.verdict for j in one.judgements.values()}:
        return by_candidate(one.variant, "the candidate takes more memory there than there is", news=False)
    if one.variant.group and ((dies and one.variant.apart) or _is_of_given_sizes(one, forward.verdict, usual)):
        why = f"the candidate is made for the sizes given: {forward.message}"
    elif not drawn and (pair := _find_parted_sizes(one, given)) is not None:
        why = f"{pair[0]} and {pair[1]} stand in a relation as given, and do not there: {_describe_shape(one)}"
    elif forward.verdict is Verdict.WRONG_SHAPE and _is_of_nothing(one):
        why = f"of nothing the candidate has another result: {forward.message}"
    elif forward.verdict is Verdict.ERROR and _is_accident(forward.message, one.variant, given):
        return one
    elif forward.verdict is Verdict.ERROR and (_is_refusal(forward.message) if laid else one.variant.name != GIVEN):
        why = f"the candidate declines: {forward.message}"
    return by_candidate(one.variant, why, news=dies) if why else one


def _is_of_given_sizes(one: VariantResult, verdict: Verdict, usual: VariantResult | None) -> bool:
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


def _find_parted_sizes(one: VariantResult, given: Sequence[CallTensor]) -> tuple[int, int] | None:
    """Two sizes that no longer stand in the relation they had, at a variant whose results have other shapes."""
    if not _describe_shape(one):
        return None
    return find_parted(*([() if t.param else t.shape for t in some] for some in (given, one.variant.case_data)))


def _describe_shape(one: VariantResult) -> str:
    """What is said of a result of another shape; empty where there is none."""
    return next((j.message for j in one.judgements.values() if j.verdict is Verdict.WRONG_SHAPE), "")


def _is_of_nothing(one: VariantResult) -> bool:
    """Whether a size is 0: PyTorch itself has a convolution of no channels give none, whatever its weights have."""
    return any(0 in t.shape for t in one.variant.case_data)


def _is_accident(message: str, variant: Variant, given: Sequence[CallTensor]) -> bool:
    """Whether what was raised is no refusal, of other values in tensors that are as given for the rest.

    Such sizes have been answered, so there is memory for them, and a table is read past its end.
    """
    alike = all((a.shape, a.dtype) == (b.shape, b.dtype) for a, b in zip(variant.case_data, given, strict=True))
    return alike and variant.rest is None and message.partition(":")[0] in _ACCIDENTS


def _is_refusal(message: str) -> bool:
    """Whether it was raised on purpose, as by an assertion, and not by a view that strides forbid."""
    _, _, said = message.partition(":")
    of_memory = any(word in said for word in _OF_MEMORY)
    return is_complaint(message) or (of_memory and "view size" not in said)


def of_reference(
    reference: Reference, given: Sequence[CallTensor], variant: Variant, wish: CheckOptions
) -> VariantResult | None:
    """What to say where a reference means something else at these sizes than at those given, or no draw has them."""
    if not variant.case_data:
        why = "no two draws can be brought to this size: inputs() draws others, or values that cannot be so there"
        return VariantResult(variant, declined=why)
    pairs = [(a, b) for a, b in zip(given, variant.case_data, strict=True) if a.shape != b.shape]
    if not pairs or variant.rest is not None or variant.stretched or variant.drawn:
        return None
    before, after = (
        trace_broadcasts(reference, tuple(replace(t, layout=CONTIGUOUS) for t in some), wish.seed)
        for some in (given, variant.case_data)
    )
    name = find_stretched(before, after)  # of 3 a half is 1, as what is left of 8 and 3 beside eleven taps
    why = f"{name} stretches an axis of size 1, which it does not as given" if name else ""
    if is_uneven(before, after):
        why = "it joins pieces of several sizes, which are alike as given"
    return by_reference(variant, why) if why else None


@dataclass(frozen=True)
class BroadcastStep:
    """An operation by elements, or an expansion: the shapes of what it takes, and for an expansion of what it gives.

    Of a contraction the sizes that its operands have under one letter, or in one pair of axes, as shapes of one axis.
    """

    name: str
    shapes: tuple[tuple[int, ...], ...]

    def find_stretched_axes(self) -> set[int]:
        """Axes, counted from the last, along which one has size 1 and another more; an expansion may add axes."""
        missing = 1 if self.name == _EXPAND else None
        columns = enumerate(zip_longest(*(reversed(s) for s in self.shapes), fillvalue=missing))
        return {axis for axis, sizes in columns if 1 in sizes and {*sizes} - {1, None}}


def trace_broadcasts(reference: Native, tensors: tuple[CallTensor, ...], seed: int) -> list[BroadcastStep]:
    """What the reference does by elements and contracts with `tensors`, in its order."""
    import torch

    done = []

    def kept(_: Any, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        y = func(*args, **kwargs)
        if not hasattr(func, "_schema"):
            return y
        name = func._schema.name  # noqa: SLF001 - it has no other name
        if name == _EXPAND:
            done.append(BroadcastStep(name, (tuple(args[0].shape), tuple(y.shape))))
        elif name == _CAT:
            done.append(BroadcastStep(name, tuple(tuple(v.shape) for v in args[0])))
        elif torch.Tag.pointwise in func.tags or name == "aten::copy_":
            done.append(BroadcastStep(name, tuple(tuple(v.shape) for v in args if hasattr(v, "shape"))))
        return y

    def contracted(name: str, sizes: Sequence[Sequence[int]]) -> None:
        done.extend(BroadcastStep(name, tuple((n,) for n in of)) for of in sizes)

    with with_intercepted_operations(kept), with_reported_contractions(contracted):
        reference.call_native(CallRequest(tensors, seed=seed))
    return done


_EXPAND, _CAT = "aten::expand", "aten::cat"


def is_uneven(given: Sequence[BroadcastStep], other: Sequence[BroadcastStep]) -> bool:
    """Whether pieces are joined that are alike in `given` and not in `other`: 17 has no halves."""
    pairs = zip(*([s for s in some if s.name == _CAT] for some in (given, other)), strict=False)
    return any(len({*a.shapes}) == 1 and len(a.shapes) == len(b.shapes) and len({*b.shapes}) > 1 for a, b in pairs)


def find_stretched(given: Sequence[BroadcastStep], other: Sequence[BroadcastStep]) -> str:
    """The first operation that stretches an axis in `other` which it does not in `given`; empty where none does.

    Expansions are counted, since indexing has one only where it stretches. Other operations than before, as a loop over
    another size has them, are not compared.
    """
    counts = [sum(s.name == _EXPAND and bool(s.find_stretched_axes()) for s in some) for some in (given, other)]
    if counts[1] > counts[0]:
        return _EXPAND
    for told in (False, True):  # a contraction has other operations within it where it stretches
        some, later = (
            [s for s in steps if (s.name in SIZES) is told and s.name not in (_EXPAND, _CAT)]
            for steps in (given, other)
        )
        pairs = list(zip(some, later, strict=False))
        alike = all(a.name == b.name for a, b in pairs)
        if found := next((b.name for a, b in pairs if alike and b.find_stretched_axes() - a.find_stretched_axes()), ""):
            return found
    return ""
