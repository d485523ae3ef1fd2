"""Integers past all that is drawn, as positions and codes, where the reference goes on and the candidate does not.

It is told and no failure: a table may end where draws do, and codes of seven bits are drawn so for a kernel's sake.

NaN and infinity in one place of each input: whether they come through as in the reference, which is told.

It is no failure: a kernel that skips a masked tile never meets what PyTorch multiplies by 0, and may be right to.

What all draws hold and a call need not: masks of 0 and minus infinity alone, or padded on the right; equal lists.

It is told and no failure: a kernel may take a mask for truth values, and one list for the other's, if callers know.

One axis more in front, where the reference takes that for a batch: whether the candidate does, which is told.

Who reshapes to the first axis and all others is right for matrices alone. It is no failure: many a kernel is for
matrices, and who refuses more axes says so.

Inputs that are written in place between a forward and its backward, where the reference does not keep them.

PyTorch raises where something that was saved by ctx.save_for_backward has been written since; what is kept beside it
gives a gradient at the new numbers, without a word. It is told and no failure: few callers write there.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from opproof.core.arrays import Array
from opproof.harness.check.call.exchange import CallRequest, Reply, ReplyTensor, Setting, are_alike, are_all_near
from opproof.harness.check.call.reference import CallFn, Native
from opproof.harness.check.judge.budget import take_in_time
from opproof.harness.check.judge.outcome import PassedVariant, VariantResult, by_candidate
from opproof.harness.check.tensors import CONTIGUOUS, CallTensor
from opproof.harness.check.variants.variant import Variant
from opproof.harness.clock import Allowed

#: So many tensors, each alone.
_MAX_FAR_TENSORS = 3
#: Past what float16 counts to (2048) and what tables often hold; less than this is drawn.
_STEP_PAST_TABLES = 5000
_FLOAT16_COUNT = 2048
#: And of larger ones, as seconds are, past what float32 counts to (2^24).
_STEPS_PAST_FLOAT32, _FLOAT32_COUNT = {np.dtype(np.int32): 1 << 30, np.dtype(np.int64): 1 << 36}, 1 << 24
#: Of so few numbers that each is there once says little.
_MAX_UNTELLING_NUMBERS = 7
_CODES = frozenset(("uint8", "int8"))
#: What is told of it.
_OTHER_ANSWER_TEXT = "the candidate gives something else than the reference there, where no draw is"


def probe_far_numbers(first: PassedVariant, ask: CallFn, reference: Native, seconds: float) -> Iterator[VariantResult]:
    """A variant, declined with what is told, for each tensor of integers. The candidate may die of it."""
    request = first.asked.request.plain
    if request.after or first.asked.reply.draws:
        return
    for name, asked in take_in_time(seconds, (*_change_one_tensor(request), *_move_all_further(request))):
        wanted = reference.call_native(asked)
        shapes = [[y.values.shape for y in some] for some in (wanted.outputs, first.asked.outputs)]
        if shapes[0] == shapes[1]:
            yield from tell_difference(name, "whole-numbers", asked, wanted, ask)


def tell_difference(name: str, fill: str, asked: CallRequest, wanted: Reply, ask: CallFn) -> Iterator[VariantResult]:
    """A variant, declined, where the answer is not near `wanted`, the reference's, of which all is finite."""
    if wanted.error or not all(np.isfinite(y.values).all() for y in wanted.outputs):
        return
    reply = ask(asked)
    if not reply.error and not are_all_near(reply.outputs, wanted.outputs):
        yield by_candidate(Variant(name, fill, CONTIGUOUS, asked.tensors, asked.tensors), _OTHER_ANSWER_TEXT, news=True)


def _find_whole_tensors(request: CallRequest) -> list[int]:
    pairs = enumerate(request.tensors)
    return [i for i, t in pairs if not t.kind and not t.marks and not t.param and t.values.size]


def _change_one_tensor(request: CallRequest) -> Iterator[tuple[str, CallRequest]]:
    for i in _find_whole_tensors(request)[:_MAX_FAR_TENSORS]:
        t = request.tensors[i]
        for said, values in (_move_further(t), _repeat_first(t)):
            if said:
                yield f"{said} in {t.name}", request.holding(i, values)


def _move_all_further(request: CallRequest) -> Iterator[tuple[str, CallRequest]]:
    """All that are large as much larger: seconds of two clocks, of which a difference is as it was."""
    some = [i for i in _find_whole_tensors(request) if request.tensors[i].values.max() >= _FLOAT16_COUNT]
    made = {i: _move_further(request.tensors[i]) for i in some}
    if len(some) > 1 and len({said for said, _ in made.values()}) == 1 and made[some[0]][0]:
        names = " and ".join(request.tensors[i].name for i in some)
        for i, (_, values) in made.items():
            request = request.holding(i, values)
        yield f"{made[some[0]][0]} in {names}", request


def _repeat_first(t: CallTensor) -> tuple[str, Array]:
    """The numbers of one of which each is there once, as of pages, with the first in the place of a later one too."""
    values = t.values
    if (
        values.size <= _MAX_UNTELLING_NUMBERS
        or np.unique(values).size < values.size
        or np.all(np.diff(values.ravel()) > 0)
    ):
        return "", values
    rows = np.array(values).reshape(-1, values.shape[-1])
    rows[len(rows) // 2, 0 if len(rows) > 1 else values.size // 2] = rows[0, 0]
    return "a number twice", rows.reshape(values.shape)


def _move_further(t: CallTensor) -> tuple[str, Array]:
    """What is tried of one, in words, and its values; no words where nothing is."""
    values = t.values
    if t.dtype in _CODES:
        most = int(np.iinfo(t.dtype).max)
        made = np.where(np.arange(values.size).reshape(values.shape) % 3, values, most)
        return (f"{most}" if int(values.max()) < most else "", made.astype(values.dtype))
    most = int(values.max())
    more = _STEP_PAST_TABLES if most < _FLOAT16_COUNT else _STEPS_PAST_FLOAT32.get(np.dtype(t.dtype), _STEP_PAST_TABLES)
    if (
        values.dtype.kind != "i"
        or values.min() < 0
        or most >= _FLOAT32_COUNT
        or most + more > np.iinfo(values.dtype).max
    ):
        return "", values
    return f"{more} more", values + more


#: So many tensors have one, each alone.
_MAX_SPECIAL_TENSORS = 4
#: A row of so many places has halves.
_MIN_HALVED_ROW = 4
_SPECIAL = {"NaN": np.nan, "infinity": np.inf}


def probe_nonfinite(first: PassedVariant, ask: CallFn, reference: Native, seconds: float) -> Iterator[VariantResult]:
    """A variant, declined with what is told, for each number that does not come through as in the reference."""
    request = first.asked.request.plain
    floats = [i for i, t in enumerate(request.tensors) if t.kind and not t.marks and not t.param and t.values.size]
    for i in take_in_time(seconds, floats[:_MAX_SPECIAL_TENSORS]):
        t = request.tensors[i]
        for word, number in _SPECIAL.items():
            values = np.array(t.values)
            values.reshape(-1)[t.values.size // 2] = number
            asked = request.holding(i, values)
            wanted = reference.call_native(asked)
            if wanted.error:
                continue
            reply = ask(asked)
            name = f"{word} in {t.name}"
            said = reply.error or _describe_difference(reply.outputs, wanted.outputs)
            if said:
                variant = Variant(name, "special", "contiguous", asked.tensors, asked.tensors)
                yield by_candidate(variant, said)


def probe_hidden_rows(first: PassedVariant, ask: CallFn, reference: Native, seconds: float) -> Iterator[VariantResult]:
    """A variant, declined with what is told, where half a row of minus infinity gives no number, or another infinity.

    Words that a grammar rules out are so, whole tiles of them; who takes the largest of each tile subtracts infinities.
    """
    request = first.asked.request.plain
    floats = [i for i, t in enumerate(request.tensors) if t.kind and not t.marks and not t.param and t.values.ndim]
    for i in take_in_time(seconds, floats[:_MAX_SPECIAL_TENSORS]):
        t = request.tensors[i]
        if t.values.shape[-1] < _MIN_HALVED_ROW or not t.values.size or not t.values.min() < 0 < t.values.max():
            continue
        rows = np.array(t.values).reshape(-1, t.values.shape[-1])
        rows[-1::-2, : rows.shape[-1] // 2] = -np.inf
        asked = request.holding(i, rows.reshape(t.values.shape))
        wanted = reference.call_native(asked)
        if wanted.error or any(np.isnan(y.values).any() for y in wanted.outputs if y.values.dtype.kind == "f"):
            continue
        reply = ask(asked)
        if said := reply.error or _describe_difference(reply.outputs, wanted.outputs):
            name = f"minus infinity in the first half of rows of {t.name}"
            yield by_candidate(Variant(name, "special", "contiguous", asked.tensors, asked.tensors), said, news=True)


def probe_unread_inputs(first: PassedVariant, ask: CallFn, reference: Native) -> Iterator[VariantResult]:
    """A variant, declined with what is told, where NaN in what the reference does not read comes out.

    Pages of a cache that no table names, and what lies behind a length, hold whatever was there before.
    """
    request = first.asked.request.plain
    for i, (t, d) in enumerate(zip(request.tensors, first.truth.gradients, strict=False)):
        if d is None or d.values.shape != t.values.shape or t.param or d.values.all() or not d.values.any():
            continue
        asked = request.holding(i, np.where(d.values == 0, np.nan, t.values))
        wanted = reference.call_native(asked)
        if wanted.error or not are_alike(wanted.outputs, first.asked.reply.outputs):
            continue
        reply = ask(asked)
        if said := reply.error or _describe_difference(reply.outputs, wanted.outputs):
            name = f"NaN in what the reference does not read of {t.name}"
            yield by_candidate(Variant(name, "special", "contiguous", asked.tensors, asked.tensors), said, news=True)


def _describe_difference(got: Sequence[ReplyTensor], wanted: Sequence[ReplyTensor]) -> str:
    """How NaN and infinities of outputs differ, in words; empty where they are in the same places."""
    for i, (y, w) in enumerate(zip(got, wanted, strict=False)):
        if y.values.shape != w.values.shape or y.values.dtype.kind != "f" or w.values.dtype.kind != "f":
            continue
        same = _classify(y.values) == _classify(w.values)
        if not same.all():
            at = tuple(int(n) for n in np.argwhere(~same)[0])
            place = f"[{', '.join(map(str, at))}]" if at else ""
            others = f"{int((~same).sum())} elements so"
            return f"y{i}{place} is {y.values[at]:.3g}, the reference's {w.values[at]:.3g}: {others}"
    return ""


def _classify(values: Array) -> Array:
    """0 of numbers, 1 and -1 of infinities, 2 of NaN."""
    return np.where(np.isnan(values), 2, np.where(np.isinf(values), np.sign(values), 0))


#: What is told of it.
_IN_AUTOCAST = "the candidate gives something else, and the reference there what it gives without"
#: Of so few places the order says nothing.
_MIN_MASK_ROW = 4
#: Below this a number in a mask hides what it is added to.
_MAX_HIDING_NUMBER = -1e3


def probe_related_inputs(
    first: PassedVariant, ask: CallFn, reference: Native, seconds: float
) -> Iterator[VariantResult]:
    """A variant, declined with what is told, for each of them. The candidate may die of it."""
    request = first.asked.request.plain
    if request.after or first.asked.reply.draws:
        return
    for name, asked in take_in_time(
        seconds, (*_vary_biases(request), *_flip_masks(request), *_vary_equal_tensors(first, request))
    ):
        yield from tell_difference(name, "related", asked, reference.call_native(asked), ask)


def in_autocast(first: PassedVariant, ask: CallFn, reference: Native) -> Iterator[VariantResult]:
    """The given inputs where PyTorch chooses dtypes: it may make of them what it does not without, and say nothing."""
    request = CallRequest(first.asked.request.tensors, seed=first.asked.request.seed, setting=Setting.AUTOCAST)
    if first.asked.request.after or first.asked.reply.draws:
        return
    wanted = reference.call_native(request)
    if wanted.error or not are_all_near(wanted.outputs, first.asked.outputs):
        return
    reply = ask(request)
    if not reply.error and not are_all_near(reply.outputs, wanted.outputs):
        variant = Variant(str(Setting.AUTOCAST), "autocast", CONTIGUOUS, request.tensors, request.tensors)
        yield by_candidate(variant, _IN_AUTOCAST, news=True)


def _vary_biases(request: CallRequest) -> Iterator[tuple[str, CallRequest]]:
    """Each mask that is added, with other numbers where it hides nothing."""
    for i, t in enumerate(request.tensors):
        hides = t.values < _MAX_HIDING_NUMBER if t.kind else np.zeros(t.values.shape, dtype=bool)
        if hides.any() and not hides.all() and not t.values[~hides].any():
            numbers = np.random.default_rng(i).standard_normal(t.values.shape)
            yield (
                f"numbers in the mask {t.name}",
                request.holding(i, t.holding(np.where(hides, t.values, numbers)).values),
            )


def _flip_masks(request: CallRequest) -> Iterator[tuple[str, CallRequest]]:
    """Each mask of truth values, 0 and 1, of which every row is in order, turned round: padding on the other side."""
    for i, t in enumerate(request.tensors):
        values = t.values
        if t.param or values.ndim == 0 or values.shape[-1] < _MIN_MASK_ROW or not np.isin(values, (0, 1)).all():
            continue
        steps = np.diff(values.astype(np.int8), axis=-1)
        if (steps <= 0).all() and (steps < 0).any():
            yield f"{t.name} turned round", request.holding(i, values[..., ::-1].copy())


def _vary_equal_tensors(first: PassedVariant, request: CallRequest) -> Iterator[tuple[str, CallRequest]]:
    """Two tensors of integers that are the same in both draws, the second with the other draw's."""
    whole = [i for i, t in enumerate(request.tensors) if not t.kind and not t.param and t.values.size > 1]
    other = first.variant.decoy_data
    for i, j in combinations(whole, 2):
        same = all(np.array_equal(some[i].values, some[j].values) for some in (request.tensors, other))
        fits = request.tensors[j].values.shape == other[j].values.shape
        if same and fits and not np.array_equal(request.tensors[j].values, other[j].values):
            names = [request.tensors[k].name for k in (j, i)]
            yield f"{names[0]} unlike {names[1]}", request.holding(j, other[j].values)


#: What is told of it.
_OTHER_BATCH_TEXT = "the candidate gives something else than for each of two matrices, and the reference does not"


def with_another_axis(first: PassedVariant, ask: CallFn, reference: Native, seconds: float) -> Iterator[VariantResult]:
    """A variant, declined with what is told, where the candidate answers otherwise for tensors with one axis more."""
    request = first.asked.request.plain
    if request.after or first.asked.reply.draws:
        return
    allowed = Allowed(seconds)
    for name, places in _choose_batched(request.tensors):
        if allowed.over:
            return
        other = [
            o if i in places else t
            for i, (t, o) in enumerate(zip(request.tensors, first.variant.decoy_data, strict=True))
        ]
        if any(t.values.shape != o.values.shape for t, o in zip(request.tensors, other, strict=True)):
            return
        both = tuple(
            replace(t, values=np.stack([t.values, o.values])) if i in places else t
            for i, (t, o) in enumerate(zip(request.tensors, other, strict=True))
        )
        wanted = _call_quietly(reference, replace(request, tensors=both))
        each = [reference.call_native(replace(request, tensors=some)) for some in (request.tensors, tuple(other))]
        if wanted.error or not _is_of_each(wanted.outputs, [r.outputs for r in each]):
            continue
        reply = ask(replace(request, tensors=both))
        if not reply.error and not are_all_near(reply.outputs, wanted.outputs):
            yield by_candidate(Variant(name, "normal", CONTIGUOUS, both, both), _OTHER_BATCH_TEXT, news=True)


def _call_quietly(reference: Native, request: CallRequest) -> Reply:
    """What the reference gives, without what PyTorch warns of: nobody asked for more axes but this question."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return reference.call_native(request)


def _choose_batched(tensors: Sequence[CallTensor]) -> Iterator[tuple[str, frozenset[int]]]:
    """Which tensors get the axis: all that have most axes, or the first of them alone."""
    most = max((len(t.shape) for t in tensors if not t.param), default=0)
    places = [i for i, t in enumerate(tensors) if not t.param and len(t.shape) == most]
    if most and places:
        yield f"an axis more in {' and '.join(tensors[i].name for i in places)}", frozenset(places)
    if most and len(places) > 1:
        yield f"an axis more in {tensors[places[0]].name}", frozenset(places[:1])


def _is_of_each(both: Sequence[ReplyTensor], each: Sequence[Sequence[ReplyTensor]]) -> bool:
    """Whether outputs for two stacked are those for each of them."""
    if any(y.values.shape[:1] != (len(each),) for y in both):
        return False
    parts = ([replace(y, values=y.values[k]) for y in both] for k in range(len(each)))
    return all(map(are_all_near, parts, each))


#: What is told of it.
_TOLD = "its gradients are others, and the reference's the same: what it keeps is not in ctx.save_for_backward"


def probe_written_inputs(first: PassedVariant, ask: CallFn, reference: Native) -> Iterator[VariantResult]:
    """A variant, declined with what is told, where the reference bears it and the candidate gives other gradients."""
    request = replace(first.asked.request, setting=Setting.WRITTEN)
    if not request.cotangents or request.after or first.asked.reply.draws:
        return
    wanted = reference.call_native(request)
    if wanted.error or wanted.failed or not are_all_near(wanted.gradients, first.asked.reply.gradients):
        return
    reply = ask(request)
    if not (reply.error or reply.failed or reply.declined) and not are_all_near(reply.gradients, first.reply.gradients):
        variant = Variant(str(Setting.WRITTEN), "written", CONTIGUOUS, request.tensors, request.tensors)
        yield by_candidate(variant, _TOLD, news=True)
