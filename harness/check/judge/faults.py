"""What is wrong with replies before any value is looked at: errors, changed inputs, other bits, shapes, memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from opproof.core.arrays import has_same_bits
from opproof.core.dtypes import DTYPES, round_to
from opproof.core.verdicts import Verdict
from opproof.harness.check.call.exchange import Reply, ReplyTensor, are_alike, are_all_near
from opproof.harness.check.call.reference_reply import ReferenceReply
from opproof.harness.check.options import CheckOptions
from opproof.harness.check.tensors import CallTensor, kind_of
from opproof.harness.judge.judgement import Judgement

#: What PyTorch says where a leaf is written in place, and what is said of it.
_OF_LEAF = "a leaf Variable that requires grad"
_IN_PLACE = "; if an argument is to hold the result, say so by its name, as inplace=('x',)"


def find_structural_error(replies: Sequence[Reply], asked: ReferenceReply, wish: CheckOptions) -> Judgement | None:
    """What is wrong before any value is looked at."""
    first, judged, last = replies
    for reply in replies:
        if reply.error:
            return Judgement(reply.cause, reply.error + (_IN_PLACE if _OF_LEAF in reply.error else ""))
    if (modified := describe_changed_input(judged, asked)) is not None:
        return modified
    names = [t.name for t in asked.request.tensors]
    harms = (r.harm for r in replies if r.harm is not None and r.harm.verdict is not Verdict.WRONG_VALUE)
    if (done := next(harms, None)) is not None and asked.reply.harm is None:
        return Judgement(done.verdict, done.text)
    if (again := max(judged.overwritten, last.overwritten)) >= 0 and not wish.reuses_outputs:
        return describe_overwritten(again, asked)
    for what, one, two in (("outputs", first.outputs, last.outputs), ("gradients", first.gradients, last.gradients)):
        if wish.bits is None and not are_alike(one, two):
            return Judgement(Verdict.NOT_REPEATABLE, _describe_other_reply(what, one, two))
    return _find_wrong_shape(judged.outputs, asked.outputs) or find_aliasing(judged.outputs, asked.outputs, names)


def describe_changed_input(reply: Reply, asked: ReferenceReply) -> Judgement | None:
    """What is said of an input that is not what it was, which the reference does not update."""
    changed = [i for i in reply.changed if i not in asked.request.after]
    if not changed:
        return None
    text = f"{asked.request.tensors[changed[0]].name} was modified, which the reference leaves as it is"
    return Judgement(Verdict.INPUT_CHANGED, text + _propose_contract(reply, changed, asked.request.tensors))


def describe_overwritten(which: int, asked: ReferenceReply) -> Judgement:
    """What is said of a result, by its place among outputs and gradients, whose memory was used again."""
    count = len(asked.outputs) - len(asked.request.after)
    name = f"y{which}" if which < count else f"the gradient of {asked.request.tensors[which - count].name}"
    text = (
        f"{name} of a call before was overwritten: its memory is used again while somebody holds it; where "
        "callers are told so, declare it with reuses_outputs=True (--reuses-outputs)"
    )
    return Judgement(Verdict.NOT_REPEATABLE, text)


def _propose_contract(reply: Reply, changed: Sequence[int], tensors: Sequence[CallTensor]) -> str:
    """What to declare where tensors that were written are meant to be; nobody gives those that a module has."""
    if any(tensors[i].param for i in changed):
        return ""
    named = [(i, k) for k, y in enumerate(reply.outputs) for i in changed if has_same_bits(reply.left[i], y.values)]
    held = [tensors[i].name for i, _ in named]
    if held and len(held) == len(changed) and [k for _, k in named] == [*range(len(held))]:
        text = " and ".join(f"{name} is overwritten by y{k}'s values" for k, name in enumerate(held))
        return f"; {text}: if that is the contract, say inplace={tuple(held)}"
    return f"; if that is the contract, say overwrites={tuple(tensors[i].name for i in changed)}"


def _describe_other_reply(what: str, one: Sequence[ReplyTensor | None], two: Sequence[ReplyTensor | None]) -> str:
    """What is said of two replies to one request: whether rounding may have parted them."""
    text = f"the same call gave other {what} the second time"
    if are_all_near(one, two):
        return f'{text}; where the order of its sums is left open, declare it with bits="vary" (--bits vary)'
    why = "something was kept of the call between, memory is read that nobody wrote, or steps race"
    return f"{text}, by more than rounding: {why}"


def _find_wrong_shape(got: Sequence[ReplyTensor], wanted: Sequence[ReplyTensor]) -> Judgement | None:
    if len(got) != len(wanted):
        return Judgement(Verdict.WRONG_SHAPE, f"{len(got)} outputs came, the reference has {len(wanted)}")
    for i, (y, w) in enumerate(zip(got, wanted, strict=True)):
        if y.values.shape != w.values.shape:
            return Judgement(Verdict.WRONG_SHAPE, f"y{i} has shape {y.values.shape}: expected {w.values.shape}")
        if y.dtype != w.dtype:
            return Judgement(Verdict.WRONG_DTYPE, f"y{i} has dtype {y.dtype}: expected {w.dtype}")
        if not _is_representable(y):
            return Judgement(Verdict.WRONG_DTYPE, f"y{i} holds numbers that are none of {y.dtype}")
    return None


def _is_representable(y: ReplyTensor) -> bool:
    """Whether the dtype that a process names can hold what it sent."""
    kind = kind_of(y.dtype)
    return kind not in ("f16", "bf16", "f32") or np.array_equal(
        round_to(y.values, DTYPES[kind]), y.values, equal_nan=True
    )


def find_aliasing(got: Sequence[ReplyTensor], wanted: Sequence[ReplyTensor], names: Sequence[str]) -> Judgement | None:
    """What is said of outputs that share memory where the reference's do not."""
    for i, (y, w) in enumerate(zip(got, wanted, strict=True)):
        if y.shares >= 0 and w.shares < 0:
            text = f"y{i} is part of the memory of {names[y.shares]}, which the reference's is not"
            return Judgement(Verdict.INPUT_CHANGED, text)
        if y.overlaps and not w.overlaps:
            text = f"y{i} has several elements in one place of memory (a stride of 0), which the reference's has not"
            return Judgement(Verdict.WRONG_SHAPE, text)
    return None
