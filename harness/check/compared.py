"""Check a candidate against a reference: inputs, both sides, every variant within the budget, the report."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from opproof.harness.check import inputs as given_inputs
from opproof.harness.check.against import errors
from opproof.harness.check.call import Pull, Reply, Request, perform
from opproof.harness.check.derivatives import derived
from opproof.harness.check.isolated import Located, isolated
from opproof.harness.check.kept import Kept
from opproof.harness.check.properties.held import held, keeping
from opproof.harness.check.properties.kinds import Property
from opproof.harness.check.records import records
from opproof.harness.check.repeated import unrepeated
from opproof.harness.check.report import Report
from opproof.harness.check.sides import Ask, Reference
from opproof.harness.check.sizes import Size, fits, joined, numbers_of, sizes
from opproof.harness.check.stretched import steps, stretched, uneven
from opproof.harness.check.subject import Form, as_call, in_dtype, is_module, name_of, owned_by, state_of
from opproof.harness.check.tensors import CONTIGUOUS, Tensor
from opproof.harness.check.trial import Manner, Tried, tried
from opproof.harness.check.variants import LAYOUTS, TIES, Variant, variants
from opproof.reports import Result
from opproof.vocabulary.errors import UsageError
from opproof.vocabulary.modes import Mode
from opproof.vocabulary.verdicts import FAILED, Verdict

#: Two draws, of which one is judged and the other lies in memory before.
_Pair = tuple[tuple[Tensor, ...], tuple[Tensor, ...]]
#: Failures that are diagnosed; and variants that fail before no other is tried.
EXPLAINED = 3
FAILING = 4
#: How many data are tried where noise takes another branch.
AGAIN = 3
#: By which a kernel says what it does not take.
_COMPLAINTS = ("AssertionError", "NotImplementedError", "TypeError", "ValueError")
#: Or what it calls, of how its tensors lie.
_OF_MEMORY = ("contiguous", "storage_offset", "with stride", "aligned")
_MARKS = "which has the values of labels or a mask and keeps them: give it with requires_grad=True where it is neither"


@dataclass(frozen=True)
class Wish:
    """What a caller asks for, beside the two sides and the inputs."""

    dtype: str | None = None
    vjp: Callable[..., Any] | None = None
    gradients: bool = True
    seconds: float = 20.0
    compute: str | None = None
    reuses_outputs: bool = False
    bits: str | None = None
    seed: int = 0
    device: str = "cpu"
    neighbours: bool = True
    eager: bool = False
    modes: tuple[Mode, ...] = ()  # beside values and gradients
    only: str | None = None  # the one variant to try, by its name
    again: str = ""  # the call, to be completed by the name of a variant


def compared(candidate: Any, like: Any, inputs: Any, wish: Wish) -> Report:
    """The report. A `Located` candidate runs in a process of its own.

    Raises UsageError where the reference does not take the inputs, OpError where it uses what has no rule under noise.
    """
    names = given_inputs.names_of(like)
    arguments, asked, by_shape = given_inputs.given(inputs, names, wish.dtype, wish.seed)
    owned = owned_by(like, wish.dtype) if is_module(like) else ()
    parameters, buffers = (tuple(t.name for t in owned if t.buffer is b) for b in (False, True))
    reference = Reference(like, Form(arguments, len(asked), parameters, buffers))

    @functools.cache  # several variants and rounds ask for the same draws
    def drawn(seed: int) -> tuple[Tensor, ...]:
        moved = state_of(like, wish.dtype, seed) if is_module(like) else ()
        return (*given_inputs.given(inputs, names, wish.dtype, seed)[1], *moved)

    if is_module(candidate) and not is_module(like):
        raise UsageError("the candidate is a module and the reference is none: give modules on both sides.")
    apart = isinstance(candidate, Located)
    if is_module(like) and not is_module(candidate) and not apart:
        raise UsageError("the reference is a module and the candidate is none: give modules on both sides.")
    manner = _manner(wish)
    name, other_name = name_of(like), name_of(candidate)
    asking = isolated(candidate, reference, wish.seed) if apart else nullcontext(_asking(candidate, reference, wish))
    pairs = [(drawn(seed), drawn(seed + 1)) for seed in range(wish.seed, wish.seed + 2 * AGAIN, 2)]
    kept: Sequence[tuple[Property, ...]] = [()] * len(pairs[0][0]) if by_shape else _held(pairs)
    with asking as ask:
        found = _tried(reference, ask, pairs, kept, by_shape, manner, wish, own=callable(inputs))
    told = wish.neighbours and wish.only is None
    same = (*(_unvaried(pairs) if callable(inputs) else ()), *_as_drawn(pairs, kept)) if told else ()
    report = _report(found, reference, name, other_name, wish, in_process=not apart)
    report = replace(report, not_judged=(*report.not_judged, *same))
    if not wish.modes:
        return report
    if apart:
        raise UsageError("modes= needs the candidate in this process: leave isolate out.")
    return _further(report, found, reference, lambda request: in_dtype(candidate, request.tensors), wish)


def _manner(wish: Wish) -> Manner:
    return Manner(wish.seed, wish.gradients, wish.compute, wish.reuses_outputs, wish.bits)


def _further(
    report: Report, found: Sequence[Tried], reference: Reference, candidate: Callable[[Request], Any], wish: Wish
) -> Report:
    """The report with the modes that were asked for beside values and gradients, of every variant within the budget."""
    start, results, notes = time.monotonic(), list[Result](), list[str]()
    manner = _manner(wish)
    for i, first in enumerate(found):
        if i and time.monotonic() - start > wish.seconds:
            break
        for mode in wish.modes if not first.declined else ():
            # PyTorch's forward mode writes tangents in place, which it refuses where elements share their memory.
            if mode is Mode.JVP and first.variant.layout == "broadcast":
                continue
            one = derived(first, mode, reference, candidate, manner, wish.device)
            made = records(one, reference, report.reference, report.candidate, in_process=True, explain=False)
            results += made
            notes += [f"{first.variant.name}, {mode}: {one.declined}"] * bool(one.declined)
            notes += [f"{first.variant.name}, {mode}: {r.message}" for r in made if r.verdict is Verdict.UNSUPPORTED]
    notes = list(dict.fromkeys((*report.not_judged, *notes)))
    return replace(report, results=(*report.results, *results), not_judged=tuple(notes))


def _asking(candidate: Any, reference: Reference, wish: Wish) -> Ask:
    """Requests put to a candidate in this process."""
    pull: Pull | None = None
    vjp = wish.vjp
    if vjp is not None:

        def pull(gs: Sequence[Any], tensors: Sequence[Any]) -> Sequence[Any]:
            found = vjp(gs[0] if len(gs) == 1 else tuple(gs), *tensors)
            return found if isinstance(found, tuple | list) else (found,)

    kept = Kept()

    def ask(request: Request) -> Reply:
        request = replace(request, device=wish.device)
        return perform(as_call(in_dtype(candidate, request.tensors), reference.form), request, pull, kept)

    return ask


def _tried(
    reference: Reference,
    ask: Ask,
    pairs: Sequence[_Pair],
    kept: Sequence[Sequence[Property]],
    by_shape: bool,
    manner: Manner,
    wish: Wish,
    *,
    own: bool,
) -> list[Tried]:
    """Every variant of pairs of draws, within the budget; `own`: a factory's, each of which then has data of its own.

    `kept`: what each tensor is in every draw, and in every variant.
    """
    start, found, took = time.monotonic(), list[Tried](), 0.0
    names = []
    first = pairs[0][0]
    others = sizes(first, numbers_of(reference.subject, reference.form.arguments.rest)) if own else []
    for i, some in enumerate(_variants(pairs, kept, by_shape, others)):
        same = _in_turn(some, i) if own else some
        begun = time.monotonic()
        names.append(same[0].name)
        if wish.only is not None and same[0].name != wish.only:
            continue
        if {same[0].group, same[0].unless} & {t.variant.group for t in found if not t.declined} - {""}:
            continue
        if found and (begun - start + took > wish.seconds or not wish.neighbours):
            break
        # Where noise would decide otherwise an honest candidate may fail: then other data tell.
        for variant in same:
            said = _of_sizes(reference, first, variant, manner)
            one = said or _made_for(tried(reference, ask, variant, manner), alone=not found)
            if one.truth is None or not one.truth.flips or not _fails(one):
                break
        took = time.monotonic() - begun if found else 0.0  # the first has the start of a process in it
        if not found and one.declined and wish.only is None:
            raise UsageError(f"{one.declined}: give inputs that the reference takes.")
        found.append(one)
        errors_first = any(j.verdict is Verdict.ERROR for j in found[0].judgements.values())
        if errors_first or sum(map(_fails, found)) >= FAILING:
            break
    if found and wish.neighbours and wish.only is None and wish.bits is None and not any(map(_fails, found)):
        found[0] = unrepeated(found[0], ask, time.monotonic() - start)
    if not found:
        raise UsageError(f"only={wish.only!r} is no variant of these inputs: expected one of {', '.join(names)}.")
    return found


def _as_drawn(pairs: Sequence[_Pair], kept: Sequence[Sequence[Property]]) -> tuple[str, ...]:
    """What is to be said of floats that have the same property in every draw."""
    names = [t.name for t in pairs[0][0]]
    some = [(name, p.said) for name, has in zip(names, kept, strict=True) for p in has]
    return tuple(f"values of {name} that are not {said}: they are in every draw" for name, said in dict.fromkeys(some))


def _unvaried(pairs: Sequence[_Pair]) -> tuple[str, ...]:
    """What is to be said of whole numbers, lengths or places, that a factory never draws otherwise."""
    draws = zip(*(draw for pair in pairs for draw in pair), strict=True)
    some = [d for d in draws if not d[0].kind and not d[0].param]
    same = [first.name for first, *rest in some if all(np.array_equal(first.values, t.values) for t in rest)]
    return tuple(f"other values of {name}: inputs() gives the same for every seed" for name in same)


def _variants(
    pairs: Sequence[_Pair], kept: Sequence[Sequence[Property]], by_shape: bool, others: Sequence[Size]
) -> tuple[tuple[Variant, ...], ...]:
    """Those of every kind of inputs, and a factory's in `others`, sizes; each of several pairs of draws."""
    first, *rest = zip(*(variants(*pair, kept, resized=by_shape) for pair in pairs), strict=True)
    made = [_sized(pairs, size, kept) for size in others]
    ragged = sum(1 not in size.new.values() for size in others)  # which stand first, and tell more than other values
    return (first, *made[:ragged], *rest, *made[ragged:])


def _held(pairs: Sequence[_Pair]) -> list[tuple[Property, ...]]:
    """What each input is in every draw."""
    return [held(draws) for draws in zip(*(draw for pair in pairs for draw in pair), strict=True)]


def _sized(pairs: Sequence[_Pair], size: Size, kept: Sequence[Sequence[Property]]) -> tuple[Variant, ...]:
    """The draws that can be brought to a size, by two; where no two can, one variant without tensors."""
    given = pairs[0][0]
    draws = [d for pair in pairs for d in pair if fits(d, given, size)]

    def brought(one: tuple[Tensor, ...], more: tuple[Tensor, ...]) -> tuple[Tensor, ...] | None:
        some = joined((one, more), size)
        made = [keeping(has, t, t.values, placed=False) for t, has in zip(some, kept, strict=True)]
        return None if None in made else tuple(t for t in made if t is not None)

    both = [(brought(a, b), brought(b, a)) for a, b in zip(draws[::2], draws[1::2], strict=False)]
    some = [(a, b) for a, b in both if a is not None and b is not None]
    made = (Variant(size.name, "normal", CONTIGUOUS, a, b, size.group, size.unless) for a, b in some)
    guess = size.group if both else ""  # what its values are in every draw they cannot be at this size
    return tuple(made) or (Variant(size.name, "normal", CONTIGUOUS, (), (), guess, size.unless),)


def _in_turn(some: Sequence[Variant], i: int) -> tuple[Variant, ...]:
    """The data of a factory's i-th variant: others come first each time, and the two of a pair take turns.

    One of them is judged, the other lies in memory before; a factory may put into every second draw what counts. Ties
    are not in turn: what meets there is of one draw.
    """
    turned = (*some[i % AGAIN :], *some[: i % AGAIN])
    swapped = i % 2 and some[0].name != TIES
    return tuple(replace(v, asked=v.other, other=v.asked) for v in turned) if swapped else turned


def _made_for(one: Tried, *, alone: bool) -> Tried:
    """A variant; declined where the candidate shows that it is made for a factory's sizes, or does not take this one.

    `alone`: nothing was judged before, so that an error is the candidate's whole answer and no refusal of a neighbour.
    """
    forward = one.judgements.get(Mode.FORWARD)
    if forward is None:
        return one
    why = ""
    if one.variant.group and forward.verdict in (Verdict.WRONG_SHAPE, Verdict.CRASH):
        why = f"the candidate is made for the sizes given: {forward.message}"
    elif forward.verdict is Verdict.ERROR and (_refused(forward.message) if one.variant.name in LAYOUTS else not alone):
        why = f"the candidate declines: {forward.message}"
    return Tried(one.variant, None, None, Reply(), {}, why, by_candidate=True) if why else one


def _refused(message: str) -> bool:
    """Whether it was raised on purpose, as by an assertion, and not by a view that strides forbid."""
    raised, _, said = message.partition(":")
    of_memory = any(word in said for word in _OF_MEMORY)
    return raised in _COMPLAINTS or (of_memory and "view size" not in said)


def _of_sizes(reference: Reference, given: Sequence[Tensor], variant: Variant, manner: Manner) -> Tried | None:
    """What to say where a reference means something else at these sizes than at those given, or no draw has them."""
    if not variant.asked:
        why = "inputs() draws other sizes by its seed, and two draws that can be brought to this one are wanted"
        return Tried(variant, None, None, Reply(), {}, why)
    pairs = [(a, b) for a, b in zip(given, variant.asked, strict=True) if a.shape != b.shape]
    if not pairs:
        return None
    before, after = (steps(reference, tuple(some), manner.seed) for some in (given, variant.asked))
    name = stretched(before, after) if any(1 in b.shape for _, b in pairs) else ""
    why = f"the reference: {name} stretches an axis of size 1, which it does not as given" if name else ""
    if uneven(before, after):
        why = "the reference: it joins pieces of several sizes, which are alike as given"
    return Tried(variant, None, None, Reply(), {}, why) if why else None


def _fails(tried: Tried) -> bool:
    return any(j.verdict in FAILED for j in tried.judgements.values())


def _report(
    found: Sequence[Tried], reference: Reference, name: str, candidate: str, wish: Wish, *, in_process: bool
) -> Report:
    results: list[Result] = []
    not_judged: list[str] = []
    judged: list[str] = []
    named: dict[str, str] = {}
    unsupported: dict[str, list[str]] = {}
    for one in found:
        where = one.variant.name
        if one.declined:
            if one.by_candidate or not one.variant.group:  # sizes are guesses: that the reference has none is no news
                not_judged.append(f"{where}: {one.declined}")
            continue
        judged.append(where)
        explain = sum(r.verdict in FAILED for r in results) < EXPLAINED
        for r in records(one, reference, name, candidate, in_process=in_process, explain=explain):
            if r.verdict is Verdict.UNSUPPORTED:
                unsupported.setdefault(f"{r.mode}: {r.message}", []).append(where)
            results.append(r)
            named[r.case] = where
    for text, some in unsupported.items():
        not_judged.append(text if some == judged else f"{', '.join(some)}, {text}")
    first = found[0]
    if wish.gradients and first.facts is not None and not first.facts.request.cotangents:
        changed = " and ".join(first.facts.request.tensors[i].name for i in first.facts.request.after)
        changed += " are" if len(first.facts.request.after) > 1 else " is" if changed else ""
        none = "the reference has none of these inputs"
        not_judged.append(
            f"gradients: {f'none are asked for, {changed} updated by what has them' if changed else none}"
        )
    marks = [t.name for t in first.facts.request.tensors if t.marks] if wish.gradients and first.facts else []
    not_judged += [f"the gradient of {name}, {_MARKS}" for name in marks]
    promoted = first.truth.promoted if first.truth is not None else ()
    eager = errors(reference, first) if wish.eager else {}
    return Report(
        candidate, name, tuple(results), tuple(judged), tuple(dict.fromkeys(not_judged)), promoted, eager,
        named, wish.again,
    )  # fmt: skip
