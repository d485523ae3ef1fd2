"""Answers that are kept of another call: by a few numbers of a tensor, an address, or an input of the call before.

Caches of packed weights look at some numbers, at their sum or their largest, and grow stale when a row is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import TypeAlias

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, Dtype, round_to
from opproof.core.verdicts import FAILED, WRONG, Mode, Verdict
from opproof.harness.check.call.exchange import CallRequest, Reply, ReplyTensor, are_alike, are_all_near
from opproof.harness.check.call.reference import CallFn, Native
from opproof.harness.check.call.reference_reply import ReferenceReply
from opproof.harness.check.judge.budget import take_in_time
from opproof.harness.check.judge.compare import judge_outputs, make_own_truth
from opproof.harness.check.judge.judged_variant import JudgedVariant
from opproof.harness.check.judge.outcome import PassedVariant, VariantResult, with_failure
from opproof.harness.check.variants.properties import find_properties, restore_properties
from opproof.harness.judge.judgement import Judgement

#: So many tensors are changed, each alone.
_MAX_CHANGED_TENSORS = 4


def by_beginnings(first: PassedVariant, ask: CallFn, reference: Native, seconds: float) -> VariantResult | None:
    """NOT_REPEATABLE where one of its tensors may end otherwise, and the answer is still of before.

    It stays, or it is another one than after a call with all tensors of another draw.
    """
    for i, change, request, changed in change_tensors(first, reference, seconds, CHANGES):
        before, reply = ask(request), ask(changed)
        if reply.error:
            continue
        where = f"where {change[0].format(request.tensors[i].name)}"
        if are_alike(reply.outputs, before.outputs):
            return _report_kept(first, reply, f"the answer stays {where}")
        ask(replace(request, tensors=first.variant.decoy_data))
        if _is_off(first, reply, ask(changed)):
            what = f"{where}, the answer is another one than after a call with other numbers"
            return _report_kept(first, reply, what)
    return None


#: What a change does to a tensor, in words; and it, of numbers by those of another draw.
_Change: TypeAlias = tuple[str, Callable[[Array, Array], Array]]


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


CHANGES: tuple[_Change, ...] = (
    ("only the last number of {} is another", _with_another_end),
    ("two numbers of {} have changed places", _with_two_exchanged),
    ("all numbers of {} are as they were in bfloat16, and others", _make_change_within(DTYPES["bf16"])),
    ("all numbers of {} are as they were in float16, and others", _make_change_within(DTYPES["f16"])),
)


def change_tensors(
    first: PassedVariant, reference: Native, seconds: float, changes: Sequence[_Change]
) -> Iterator[tuple[int, _Change, CallRequest, CallRequest]]:
    """Each tensor's place, and what was asked, as given and with a change there that matters; edges stay in order."""
    request = first.asked.request.plain
    if request.after:
        return
    floats = [i for i, t in enumerate(request.tensors) if t.kind and not t.marks and t.values.size > 1]
    for change, i in take_in_time(seconds, [*product(changes, floats[:_MAX_CHANGED_TENSORS])]):
        t, other = request.tensors[i], first.variant.decoy_data[i]
        values = change[1](t.values.reshape(-1), other.values.reshape(-1)).reshape(t.values.shape)
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
    # A reference in 16 bits is off by more than its truth allows.
    before = make_own_truth(replace(first, reply=first.asked.reply))
    return all(judge_outputs(first.asked, known, wanted).verdict in FAILED for known in (first.truth, before))


#: Inputs of which each is tried, and the part of the largest element that an explained answer is off by at most.
_MAX_INPUTS_TRIED = 6
_MAX_DISTANCE_SHARE = 2.0**-6


def mention_kept_input(one: JudgedVariant) -> JudgedVariant:
    """Say of a wrong output that it is right for an input of the call before.

    A number alone is near another by chance: the last reply, to the other data again, has to be one of a candidate that
    keeps, too, right for what it kept of either call before.
    """
    if one.judgements[Mode.FORWARD].verdict not in WRONG:
        return one
    for i, t in enumerate(one.asked.request.tensors[:_MAX_INPUTS_TRIED]):
        before = one.decoy.request.tensors[i]
        if before.shape != t.shape or before.values is t.values:
            continue
        mixed = one.reference.call_native(_with(one.asked, i, one.decoy)).outputs
        if not _explains(mixed, one.asked.outputs, one.reply.outputs):
            continue
        later = one.reference.call_native(_with(one.decoy, i, one.asked)).outputs
        if any(_is_near(some, one.replies[2].outputs) for some in (later, one.decoy.outputs)):
            text = f"it is right for {t.name} of the call before, which it seems to have kept"
            return one.with_changed({m: replace(j, message=j.message or text) for m, j in one.judgements.items()})
    return one


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
