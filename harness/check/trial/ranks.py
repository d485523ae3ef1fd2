"""One axis more in front, where the reference takes that for a batch: whether the candidate does, which is told.

Who reshapes to the first axis and all others is right for matrices alone. It is no failure: many a kernel is for
matrices, and who refuses more axes says so.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from opproof.harness.check.questions.variants import Variant
from opproof.harness.check.sides.alike import all_near
from opproof.harness.check.sides.exchange import Answered, Reply, Request
from opproof.harness.check.sides.reference import Ask, Native
from opproof.harness.check.tensors import CONTIGUOUS, Tensor
from opproof.harness.check.trial.outcome import Right, Tried, by_candidate
from opproof.harness.clock import Allowed

#: What is told of it.
_OTHERWISE = "the candidate gives something else than for each of two matrices, and the reference does not"


def with_another_axis(first: Right, ask: Ask, reference: Native, seconds: float) -> Iterator[Tried]:
    """A variant, declined with what is told, where the candidate answers otherwise for tensors with one axis more."""
    request = first.asked.request.plain
    if request.after or first.asked.reply.draws:
        return
    allowed = Allowed(seconds)
    for name, places in _batched(request.tensors):
        if allowed.over:
            return
        other = [
            o if i in places else t for i, (t, o) in enumerate(zip(request.tensors, first.variant.other, strict=True))
        ]
        if any(t.values.shape != o.values.shape for t, o in zip(request.tensors, other, strict=True)):
            return
        both = tuple(
            replace(t, values=np.stack([t.values, o.values])) if i in places else t
            for i, (t, o) in enumerate(zip(request.tensors, other, strict=True))
        )
        wanted = _quietly(reference, replace(request, tensors=both))
        each = [reference.native(replace(request, tensors=some)) for some in (request.tensors, tuple(other))]
        if wanted.error or not _is_of_each(wanted.outputs, [r.outputs for r in each]):
            continue
        reply = ask(replace(request, tensors=both))
        if not reply.error and not all_near(reply.outputs, wanted.outputs):
            yield by_candidate(Variant(name, "normal", CONTIGUOUS, both, both), _OTHERWISE, news=True)


def _quietly(reference: Native, request: Request) -> Reply:
    """What the reference gives, without what PyTorch warns of: nobody asked for more axes but this question."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return reference.native(request)


def _batched(tensors: Sequence[Tensor]) -> Iterator[tuple[str, frozenset[int]]]:
    """Which tensors get the axis: all that have most axes, or the first of them alone."""
    most = max((len(t.shape) for t in tensors if not t.param), default=0)
    places = [i for i, t in enumerate(tensors) if not t.param and len(t.shape) == most]
    if most and places:
        yield f"an axis more in {' and '.join(tensors[i].name for i in places)}", frozenset(places)
    if most and len(places) > 1:
        yield f"an axis more in {tensors[places[0]].name}", frozenset(places[:1])


def _is_of_each(both: Sequence[Answered], each: Sequence[Sequence[Answered]]) -> bool:
    """Whether outputs for two stacked are those for each of them."""
    if any(y.values.shape[:1] != (len(each),) for y in both):
        return False
    parts = ([replace(y, values=y.values[k]) for y in both] for k in range(len(each)))
    return all(map(all_near, parts, each))
