"""One tensor with another last number, or two exchanged: who keeps an answer by a few numbers answers as before.

So do caches of packed weights that look at a few numbers of them, at their sum or their largest, and grow stale when a
row is written. Two that are exchanged leave all of these as they were.

A wrong answer explained by the call before: one of its inputs was kept, by address or by shape, and read again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, Dtype, round_to
from opproof.core.verdicts import FAILED, Mode, Verdict
from opproof.harness.check.call.exchange import CallRequest, Reply, ReplyTensor, are_alike, are_all_near
from opproof.harness.check.call.reference import CallFn, Native, Reference
from opproof.harness.check.call.reference_reply import ReferenceReply
from opproof.harness.check.judge.budget import take_in_time
from opproof.harness.check.judge.compare import judge_outputs, make_own_truth
from opproof.harness.check.judge.outcome import PassedVariant, VariantResult, by_candidate, with_failure
from opproof.harness.check.tensors import CONTIGUOUS
from opproof.harness.check.variants.properties import find_properties, restore_properties
from opproof.harness.check.variants.variant import Variant
from opproof.harness.judge.judgement import Judgement

#: So many tensors are changed, each alone.
_MAX_CHANGED_TENSORS = 4


def by_beginnings(first: PassedVariant, ask: CallFn, reference: Native, seconds: float) -> VariantResult | None:
    """NOT_REPEATABLE where one of its tensors may end otherwise, and the answer is still of before.

    It stays, or it is another one than after a call with all tensors of another draw.
    """
    for i, change, request, changed in _change_tensors(first, reference, seconds, _CHANGES):
        before, reply = ask(request), ask(changed)
        if reply.error:
            continue
        where = f"where {change.what.format(request.tensors[i].name)}"
        if are_alike(reply.outputs, before.outputs):
            return _report_kept(first, reply, f"the answer stays {where}")
        ask(replace(request, tensors=first.variant.decoy_data))
        if _is_off(first, reply, ask(changed)):
            return _report_kept(
                first, reply, f"{where}, the answer is another one than after a call with other numbers"
            )
    return None


def by_version(first: PassedVariant, ask: CallFn, reference: Native, seconds: float) -> Iterator[VariantResult]:
    """A variant, declined with what is told, where the answer stays once a tensor is written through `.data`.

    That leaves its version as it was, by which PyTorch tells whether a tensor was written: who goes by it is no worse.
    """
    for i, _, request, changed in _change_tensors(first, reference, seconds, _CHANGES[:1]):
        before, reply = ask(request), ask(replace(changed, unseen=True))
        if not reply.error and are_alike(reply.outputs, before.outputs):
            name = f"{request.tensors[i].name} written through .data"
            variant = Variant(name, "unseen", CONTIGUOUS, changed.tensors, request.tensors)
            yield by_candidate(variant, "the answer stays: it is kept by the version of a tensor", news=True)


@dataclass(frozen=True)
class _Change:
    """Of numbers, by those of another draw; and what it does to a tensor, in words."""

    what: str
    of: Callable[[Array, Array], Array]


def _with_another_end(values: Array, other: Array) -> Array:
    made = values.copy()
    made[-1] = other[-1] if other.size == made.size else 0.0
    return made


def _with_two_exchanged(values: Array, _: Array) -> Array:
    """The least and the largest of the second quarter of numbers: neither ends nor the middle."""
    made, start = values.copy(), values.size // 4
    some = values[start : values.size // 2]
    if some.size > 1:
        at = [start + int(some.argmin()), start + int(some.argmax())]
        made[at] = values[at[::-1]]
    return made


def _make_change_within(dtype: Dtype) -> Callable[[Array, Array], Array]:
    """All numbers on the other side of what they are where they are rounded to a dtype."""

    def change(values: Array, _: Array) -> Array:
        known = round_to(values, dtype)
        made = 2 * known - values
        alike = np.isfinite(known) & (round_to(made, dtype) == known)  # below a power of two numbers lie closer
        return np.where(alike, made, values)

    return change


_CHANGES = (
    _Change("only the last number of {} is another", _with_another_end),
    _Change("two numbers of {} have changed places", _with_two_exchanged),
    _Change("all numbers of {} are as they were in bfloat16, and others", _make_change_within(DTYPES["bf16"])),
    _Change("all numbers of {} are as they were in float16, and others", _make_change_within(DTYPES["f16"])),
)


def _change_tensors(
    first: PassedVariant, reference: Native, seconds: float, changes: Sequence[_Change]
) -> Iterator[tuple[int, _Change, CallRequest, CallRequest]]:
    """Each tensor's place, and what was asked, as given and with a change there that matters; edges stay in order."""
    request = first.asked.request.plain
    if request.after:
        return
    floats = [i for i, t in enumerate(request.tensors) if t.kind and not t.marks and t.values.size > 1]
    for change, i in take_in_time(seconds, [*product(changes, floats[:_MAX_CHANGED_TENSORS])]):
        t, other = request.tensors[i], first.variant.decoy_data[i]
        values = change.of(t.values.reshape(-1), other.values.reshape(-1)).reshape(t.values.shape)
        kept = restore_properties(find_properties([t, other]), t, values)
        if kept is None:
            continue
        changed = request.holding(i, kept.values)
        wanted = reference.call_native(changed)
        if not wanted.error and _is_other(first, wanted.outputs):
            yield i, change, request, changed


def _is_off(first: PassedVariant, reply: Reply, again: Reply) -> bool:
    """Whether two replies to one request are apart by more than rounding."""
    if again.error:
        return False
    return judge_outputs(first.asked, make_own_truth(replace(first, reply=again)), reply).verdict in FAILED


def _report_kept(first: PassedVariant, reply: Reply, what: str) -> VariantResult:
    text = f"{what}: something was kept that does not hold all that it depends on"
    return with_failure(first, reply, Mode.FORWARD, Judgement(Verdict.NOT_REPEATABLE, text))


def _is_other(first: PassedVariant, outputs: Sequence[ReplyTensor]) -> bool:
    """Whether outputs are none that the inputs as given may have, by more than rounding."""
    shapes = [[y.values.shape for y in some] for some in (outputs, first.reply.outputs)]
    if shapes[0] != shapes[1]:
        return False
    wanted = replace(first.reply, outputs=tuple(outputs))
    before = make_own_truth(
        replace(first, reply=first.asked.reply)
    )  # a reference in 16 bits is off by more than its truth allows
    return all(judge_outputs(first.asked, known, wanted).verdict in FAILED for known in (first.truth, before))


#: Inputs of which each is tried, and the part of the largest element that an explained answer is off by at most.
_MAX_INPUTS_TRIED = 6
_MAX_DISTANCE_SHARE = 2.0**-6


def find_kept_input(
    reference: Reference, asked: ReferenceReply, decoy: ReferenceReply, replies: Sequence[Reply]
) -> str:
    """Which input of the call before a wrong answer is right for, in words; empty where it is right for none.

    `replies`: of the candidate to other, asked, other. A number alone is near another by chance: the last reply has to
    be one of a candidate that keeps, too, right for what it kept of either call before.
    """
    for i, t in enumerate(asked.request.tensors[:_MAX_INPUTS_TRIED]):
        before = decoy.request.tensors[i]
        if before.shape != t.shape or before.values is t.values:
            continue
        mixed = reference.call_native(_with(asked, i, decoy)).outputs
        if not _explains(mixed, asked.outputs, replies[1].outputs):
            continue
        later = reference.call_native(_with(decoy, i, asked)).outputs
        if any(_is_near(some, replies[2].outputs) for some in (later, decoy.outputs)):
            return f"it is right for {t.name} of the call before, which it seems to have kept"
    return ""


def _with(asked: ReferenceReply, i: int, decoy: ReferenceReply) -> CallRequest:
    """What was asked, the i-th tensor of another call in it; no gradients."""
    tensors = tuple(decoy.request.tensors[i] if i == j else t for j, t in enumerate(asked.request.tensors))
    return replace(asked.request.plain, tensors=tensors)


def _explains(mixed: Sequence[ReplyTensor], right: Sequence[ReplyTensor], got: Sequence[ReplyTensor]) -> bool:
    """Whether an answer is what comes of the mixed inputs, and not what comes of those asked."""
    finite = all(np.isfinite(y.values).any() for y in got if y.values.size)
    return finite and _is_near(mixed, got) and not _is_near(right, got)


def _is_near(wanted: Sequence[ReplyTensor], got: Sequence[ReplyTensor]) -> bool:
    return len(got) > 0 and are_all_near(wanted, got, _MAX_DISTANCE_SHARE)
