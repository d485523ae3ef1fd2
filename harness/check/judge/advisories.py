"""Advisories: calls in which a candidate answers otherwise than the reference, and which are no failure.

A kernel that skips a masked tile never meets what PyTorch multiplies by 0, a table may end where draws do, and a mask
may be taken for truth values, if callers know. They are tried once all is right, and said where they are asked for.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from opproof.core.arrays import Array
from opproof.core.verdicts import Verdict
from opproof.harness.check.call.exchange import CallRequest, Reply, ReplyTensor, Setting, are_alike, are_all_near
from opproof.harness.check.call.perform import changed_of
from opproof.harness.check.call.reference import CallFn, Native
from opproof.harness.check.judge.budget import take_in_time
from opproof.harness.check.judge.outcome import PassedVariant
from opproof.harness.check.judge.stale_cache import CHANGES, change_tensors
from opproof.harness.check.tensors import PARTS, CallTensor
from opproof.harness.clock import Allowed

#: So many tensors have a number that is none, or integers past all that is drawn, each alone.
_MAX_SPECIAL_TENSORS = 4
_MAX_FAR_TENSORS = 3
#: A row of so many places has halves; of so few the order says nothing.
_MIN_HALVED_ROW = 4
_MIN_MASK_ROW = 4
#: Below this a number in a mask hides what it is added to.
_MAX_HIDING_NUMBER = -1e3
#: Past what float16 counts to (2048) and what tables often hold; less than this is drawn.
_STEP_PAST_TABLES = 5000
_FLOAT16_COUNT = 2048
#: And of larger ones, as seconds are, past what float32 counts to (2^24).
_STEPS_PAST_FLOAT32, _FLOAT32_COUNT = {np.dtype(np.int32): 1 << 30, np.dtype(np.int64): 1 << 36}, 1 << 24
#: Of so few numbers that each is there once says little.
_MAX_UNTELLING_NUMBERS = 7
_CODES = frozenset(("uint8", "int8"))
#: What is said.
_OTHER = "the candidate gives something else than the reference there, where no draw is"
_OTHER_IN_AUTOCAST = "the candidate gives something else, and the reference there what it gives without"
_OTHER_BATCH = "the candidate gives something else than for each of two matrices, and the reference does not"
_OTHER_GRADIENTS = (
    "its gradients are others, and the reference's the same: what it keeps is not in ctx.save_for_backward"
)
_OTHER_BITS = "other bits than among all: what a row gives depends on the batch"
_KEPT_BY_VERSION = "the answer stays: it is kept by the version of a tensor"


@dataclass(frozen=True)
class Advisory:
    """Where a candidate answers otherwise, and how."""

    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"


def find_advisories(
    first: PassedVariant, ask: CallFn, reference: Native, seconds: float, *, isolated: bool
) -> Iterator[Advisory]:
    """Yield what is no failure of the inputs as given; `isolated`: the candidate may die of it."""
    some = _Advisories(first, ask, reference, seconds)
    yield from some.of_nonfinite_numbers()
    yield from some.of_hidden_rows()
    yield from some.of_unread_inputs()
    yield from some.of_versions()
    if first.asked.request.after or first.asked.reply.draws:
        return
    yield from some.of_rows()
    yield from some.of_another_axis()
    yield from some.of_autocast()
    yield from some.of_written_inputs()
    if isolated:
        yield from some.of_far_numbers()
        yield from some.of_related_inputs()
        yield from some.of_wrong_calls()


@dataclass(frozen=True)
class _Advisories:
    """What is tried of the inputs as given, in so many seconds each."""

    first: PassedVariant
    ask: CallFn
    reference: Native
    seconds: float

    @property
    def request(self) -> CallRequest:
        """As given, without gradients."""
        return self.first.asked.request.plain

    def of_nonfinite_numbers(self) -> Iterator[Advisory]:
        """NaN and infinity in one place of each input."""
        floats = [i for i in self._list_floats() if self.request.tensors[i].values.size]
        for i in take_in_time(self.seconds, floats[:_MAX_SPECIAL_TENSORS]):
            t = self.request.tensors[i]
            for word, number in {"NaN": np.nan, "infinity": np.inf}.items():
                values = np.array(t.values)
                values.reshape(-1)[t.values.size // 2] = number
                asked = self.request.holding(i, values)
                yield from self._compare_special(f"{word} in {t.name}", asked, self.reference.call_native(asked))

    def of_hidden_rows(self) -> Iterator[Advisory]:
        """Half a row of minus infinity, as words that a grammar rules out: whole tiles have no largest number then."""
        floats = [i for i in self._list_floats() if self.request.tensors[i].values.ndim]
        for i in take_in_time(self.seconds, floats[:_MAX_SPECIAL_TENSORS]):
            t = self.request.tensors[i]
            if t.values.shape[-1] < _MIN_HALVED_ROW or not t.values.size or not t.values.min() < 0 < t.values.max():
                continue
            rows = np.array(t.values).reshape(-1, t.values.shape[-1])
            rows[-1::-2, : rows.shape[-1] // 2] = -np.inf
            asked = self.request.holding(i, rows.reshape(t.values.shape))
            wanted = self.reference.call_native(asked)
            if not any(np.isnan(y.values).any() for y in wanted.outputs if y.values.dtype.kind == "f"):
                name = f"minus infinity in the first half of rows of {t.name}"
                yield from self._compare_special(name, asked, wanted)

    def of_unread_inputs(self) -> Iterator[Advisory]:
        """NaN in what the reference does not read, as pages of a cache that no table names: they hold anything."""
        for i, (t, d) in enumerate(zip(self.request.tensors, self.first.truth.gradients, strict=False)):
            if d is None or d.values.shape != t.values.shape or t.param or d.values.all() or not d.values.any():
                continue
            asked = self.request.holding(i, np.where(d.values == 0, np.nan, t.values))
            wanted = self.reference.call_native(asked)
            if are_alike(wanted.outputs, self.first.asked.reply.outputs):
                yield from self._compare_special(f"NaN in what the reference does not read of {t.name}", asked, wanted)

    def of_versions(self) -> Iterator[Advisory]:
        """A tensor written through `.data`, which leaves the version as it was by which PyTorch tells that it was."""
        for i, _, request, changed in change_tensors(self.first, self.reference, self.seconds, CHANGES[:1]):
            before, reply = self.ask(request), self.ask(replace(changed, unseen=True))
            if not reply.error and are_alike(reply.outputs, before.outputs):
                yield Advisory(f"{request.tensors[i].name} written through .data", _KEPT_BY_VERSION)

    def of_rows(self) -> Iterator[Advisory]:
        """One row of the first axis alone, where the reference gives it what it has among all."""
        request, whole = self.request, self.ask(self.request)
        rows = whole.outputs[0].values.shape[0] if whole.outputs and whole.outputs[0].values.ndim else 0
        at = slice(rows // 2, rows // 2 + 1)
        some = [t.values.shape[:1] == (rows,) and not t.param for t in request.tensors]
        if rows < 2 or not any(some):
            return
        alone = tuple(t.holding(t.values[at]) if s else t for t, s in zip(request.tensors, some, strict=True))
        asked = replace(request, tensors=alone)
        wanted = self.reference.call_native(asked)
        parts, own = (
            [replace(y, values=y.values[at]) if y.values.shape[:1] == (rows,) else y for y in outputs]
            for outputs in (self.reference.call_native(request).outputs, whole.outputs)
        )
        if not wanted.error and are_all_near(wanted.outputs, parts):
            reply = self.ask(asked)
            if not reply.error and not are_alike(reply.outputs, own):
                yield Advisory(f"row {rows // 2} of {rows} alone", _OTHER_BITS)

    def of_another_axis(self) -> Iterator[Advisory]:
        """One axis more in front, where the reference takes that for a batch."""
        request, others, allowed = self.request, self.first.variant.decoy_data, Allowed(self.seconds)
        for name, places in _choose_batched(request.tensors):
            pairs = [(t, o if i in places else t) for i, (t, o) in enumerate(zip(request.tensors, others, strict=True))]
            if allowed.over or any(t.values.shape != o.values.shape for t, o in pairs):
                return
            both = tuple(
                replace(t, values=np.stack([t.values, o.values])) if i in places else t
                for i, (t, o) in enumerate(pairs)
            )
            asked = replace(request, tensors=both)
            with warnings.catch_warnings():  # nobody asked for more axes but this question
                warnings.simplefilter("ignore")
                wanted = self.reference.call_native(asked)
            each = [self.reference.call_native(replace(request, tensors=some)) for some in zip(*pairs, strict=True)]
            if not wanted.error and _is_of_each(wanted.outputs, [r.outputs for r in each]):
                yield from self._compare_near(name, asked, wanted, _OTHER_BATCH)

    def of_autocast(self) -> Iterator[Advisory]:
        """The given inputs where PyTorch chooses dtypes: it may make of them what it does not without."""
        request = self.first.asked.request
        asked = CallRequest(request.tensors, seed=request.seed, setting=Setting.AUTOCAST)
        wanted = self.reference.call_native(asked)
        if are_all_near(wanted.outputs, self.first.asked.outputs):
            yield from self._compare_near(str(Setting.AUTOCAST), asked, wanted, _OTHER_IN_AUTOCAST)

    def of_written_inputs(self) -> Iterator[Advisory]:
        """Inputs that are written in place between a forward and its backward, where the reference does not keep them.

        PyTorch raises where ctx.save_for_backward has them; what is kept beside it gives a gradient at new numbers.
        """
        asked = replace(self.first.asked.request, setting=Setting.WRITTEN)
        if not asked.cotangents:
            return
        wanted = self.reference.call_native(asked)
        if wanted.error or wanted.failed or not are_all_near(wanted.gradients, self.first.asked.reply.gradients):
            return
        reply = self.ask(asked)
        odd = reply.error or reply.failed or reply.declined
        if not odd and not are_all_near(reply.gradients, self.first.reply.gradients):
            yield Advisory(str(Setting.WRITTEN), _OTHER_GRADIENTS)

    def of_far_numbers(self) -> Iterator[Advisory]:
        """Integers past all that is drawn, as positions and codes."""
        some = (*_change_one_tensor(self.request), *_move_all_further(self.request))
        for name, asked in take_in_time(self.seconds, some):
            wanted = self.reference.call_native(asked)
            shapes = [[y.values.shape for y in some] for some in (wanted.outputs, self.first.asked.outputs)]
            if shapes[0] == shapes[1]:
                yield from self._compare_finite(name, asked, wanted)

    def of_related_inputs(self) -> Iterator[Advisory]:
        """What all draws hold and a call need not: masks of 0 and minus infinity, padding on the right, equal lists."""
        equal = _vary_equal_tensors(self.request, self.first.variant.decoy_data)
        some = (*_vary_biases(self.request), *_flip_masks(self.request), *equal)
        for name, asked in take_in_time(self.seconds, some):
            yield from self._compare_finite(name, asked, self.reference.call_native(asked))

    def of_wrong_calls(self) -> Iterator[Advisory]:
        """Calls that the reference refuses: sizes that do not fit, an index past its end. At most one ends it."""
        for name, some in take_in_time(self.seconds, _make_wrong_calls(self.request)):
            errors = ((asked, self.reference.call_native(asked).error) for asked in some)
            asked, why = next(((asked, error) for asked, error in errors if error), (self.request, ""))
            reply = self.ask(asked) if why else Reply(error="not asked")
            written = reply.error and reply.left and changed_of(asked, reply.left)
            if not reply.error:
                yield Advisory(f"accepts {name}", f"PyTorch refuses it ({why})")
            elif reply.cause is not Verdict.ERROR:
                yield Advisory(f"ends by {name}", f"{reply.error}; PyTorch refuses it ({why})")
                return
            elif written:
                changed = asked.tensors[written[0]].name
                yield Advisory(f"writes {changed} before it refuses {name}", f"PyTorch writes nothing ({why})")

    def _list_floats(self) -> list[int]:
        return [i for i, t in enumerate(self.request.tensors) if t.kind and not t.marks and not t.param]

    def _compare_special(self, name: str, asked: CallRequest, wanted: Reply) -> Iterator[Advisory]:
        """An advisory where NaN and infinities are in other places, or the candidate raises."""
        if not wanted.error:
            reply = self.ask(asked)
            if text := reply.error or _describe_difference(reply.outputs, wanted.outputs):
                yield Advisory(name, text)

    def _compare_finite(self, name: str, asked: CallRequest, wanted: Reply) -> Iterator[Advisory]:
        if all(np.isfinite(y.values).all() for y in wanted.outputs):
            yield from self._compare_near(name, asked, wanted, _OTHER)

    def _compare_near(self, name: str, asked: CallRequest, wanted: Reply, text: str) -> Iterator[Advisory]:
        """An advisory where the candidate answers, and not as the reference does up to rounding."""
        if not wanted.error:
            reply = self.ask(asked)
            if not reply.error and not are_all_near(reply.outputs, wanted.outputs):
                yield Advisory(name, text)


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


def _choose_batched(tensors: Sequence[CallTensor]) -> Iterator[tuple[str, frozenset[int]]]:
    """Which tensors get an axis: all that have most axes, or the first of them alone."""
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


# What does not fit.


def _make_wrong_calls(request: CallRequest) -> Iterator[tuple[str, list[CallRequest]]]:
    """What may be wrong, in words, and calls of it, of which the first that the reference refuses counts.

    An axis as long as one of another tensor is longer by one; an index is the first number past an axis of any.
    """
    shapes = [t.values.shape for t in request.tensors]
    for i, t in enumerate(request.tensors):
        others = {size for j, shape in enumerate(shapes) if j != i for size in shape}
        for axis, size in enumerate(() if t.param or t.dtype in PARTS else t.shape):
            if size > 1 and size in others:
                wrong = (*t.shape[:axis], size + 1, *t.shape[axis + 1 :])
                said = f"{t.name} of shape {wrong} in place of {t.shape}"
                yield said, [request.holding(i, np.resize(t.values, wrong))]
    for i in _find_whole_tensors(request):
        values, sizes = request.tensors[i].values, sorted({size for shape in shapes for size in shape})
        if values.dtype.kind == "i":
            some = [_put_last(values, size) for size in sizes if size > values.max()]
            yield f"an index past its end in {request.tensors[i].name}", [request.holding(i, v) for v in some]


def _put_last(values: Array, number: int) -> Array:
    changed = values.copy()
    changed.flat[-1] = number
    return changed


# Integers past all that is drawn.


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
    few = values.size <= _MAX_UNTELLING_NUMBERS or np.unique(values).size < values.size
    if few or np.all(np.diff(values.ravel()) > 0):
        return "", values
    rows = np.array(values).reshape(-1, values.shape[-1])
    rows[len(rows) // 2, 0 if len(rows) > 1 else values.size // 2] = rows[0, 0]
    return "a number twice", rows.reshape(values.shape)


def _move_further(t: CallTensor) -> tuple[str, Array]:
    """What is tried of one, in words, and its values; no words where nothing is."""
    values, most = t.values, int(t.values.max())
    if t.dtype in _CODES:
        end = int(np.iinfo(t.dtype).max)
        made = np.where(np.arange(values.size).reshape(values.shape) % 3, values, end)
        return f"{end}" if most < end else "", made.astype(values.dtype)
    more = _STEP_PAST_TABLES if most < _FLOAT16_COUNT else _STEPS_PAST_FLOAT32.get(np.dtype(t.dtype), _STEP_PAST_TABLES)
    if values.dtype.kind != "i" or values.min() < 0 or most >= _FLOAT32_COUNT:
        return "", values
    return ("", values) if most + more > np.iinfo(values.dtype).max else (f"{more} more", values + more)


# What is so in all draws.


def _vary_biases(request: CallRequest) -> Iterator[tuple[str, CallRequest]]:
    """Each mask that is added, with other numbers where it hides nothing."""
    for i, t in enumerate(request.tensors):
        hides = t.values < _MAX_HIDING_NUMBER if t.kind else np.zeros(t.values.shape, dtype=bool)
        if hides.any() and not hides.all() and not t.values[~hides].any():
            numbers = np.random.default_rng(i).standard_normal(t.values.shape)
            made = t.holding(np.where(hides, t.values, numbers)).values
            yield f"numbers in the mask {t.name}", request.holding(i, made)


def _flip_masks(request: CallRequest) -> Iterator[tuple[str, CallRequest]]:
    """Each mask of truth values, 0 and 1, of which every row is in order, turned round: padding on the other side."""
    for i, t in enumerate(request.tensors):
        values = t.values
        if t.param or values.ndim == 0 or values.shape[-1] < _MIN_MASK_ROW or not np.isin(values, (0, 1)).all():
            continue
        steps = np.diff(values.astype(np.int8), axis=-1)
        if (steps <= 0).all() and (steps < 0).any():
            yield f"{t.name} turned round", request.holding(i, values[..., ::-1].copy())


def _vary_equal_tensors(request: CallRequest, other: Sequence[CallTensor]) -> Iterator[tuple[str, CallRequest]]:
    """Two tensors of integers that are the same in both draws, the second with the other draw's."""
    whole = [i for i, t in enumerate(request.tensors) if not t.kind and not t.param and t.values.size > 1]
    for i, j in combinations(whole, 2):
        same = all(np.array_equal(some[i].values, some[j].values) for some in (request.tensors, other))
        fits = request.tensors[j].values.shape == other[j].values.shape
        if same and fits and not np.array_equal(request.tensors[j].values, other[j].values):
            names = [request.tensors[k].name for k in (j, i)]
            yield f"{names[0]} unlike {names[1]}", request.holding(j, other[j].values)
