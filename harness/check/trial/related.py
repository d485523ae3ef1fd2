"""What all draws hold and a call need not: masks of 0 and minus infinity alone, or padded on the right; equal lists.

It is told and no failure: a kernel may take a mask for truth values, and one list for the other's, if callers know.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from opproof.harness.check.questions.variants import Variant
from opproof.harness.check.sides.alike import all_near
from opproof.harness.check.sides.exchange import Request
from opproof.harness.check.sides.reference import Ask, Native
from opproof.harness.check.sides.settings import Setting
from opproof.harness.check.tensors import CONTIGUOUS
from opproof.harness.check.trial.far import told
from opproof.harness.check.trial.in_time import begun_in
from opproof.harness.check.trial.outcome import Right, Tried, by_candidate

#: What is told of it.
_IN_AUTOCAST = "the candidate gives something else, and the reference there what it gives without"
#: Of so few places the order says nothing.
_ROW = 4
#: Below this a number in a mask hides what it is added to.
_HIDING = -1e3


def related(first: Right, ask: Ask, reference: Native, seconds: float) -> Iterator[Tried]:
    """A variant, declined with what is told, for each of them. The candidate may die of it."""
    request = first.asked.request.plain
    if request.after or first.asked.reply.draws:
        return
    for name, asked in begun_in(seconds, (*_biases(request), *_turned(request), *_unlike(first, request))):
        yield from told(name, "related", asked, reference.native(asked), ask)


def in_autocast(first: Right, ask: Ask, reference: Native) -> Iterator[Tried]:
    """The given inputs where PyTorch chooses dtypes: it may make of them what it does not without, and say nothing."""
    request = Request(first.asked.request.tensors, seed=first.asked.request.seed, setting=Setting.AUTOCAST)
    if first.asked.request.after or first.asked.reply.draws:
        return
    wanted = reference.native(request)
    if wanted.error or not all_near(wanted.outputs, first.asked.outputs):
        return
    reply = ask(request)
    if not reply.error and not all_near(reply.outputs, wanted.outputs):
        variant = Variant(str(Setting.AUTOCAST), "autocast", CONTIGUOUS, request.tensors, request.tensors)
        yield by_candidate(variant, _IN_AUTOCAST, news=True)


def _biases(request: Request) -> Iterator[tuple[str, Request]]:
    """Each mask that is added, with other numbers where it hides nothing."""
    for i, t in enumerate(request.tensors):
        hides = t.values < _HIDING if t.kind else np.zeros(t.values.shape, dtype=bool)
        if hides.any() and not hides.all() and not t.values[~hides].any():
            numbers = np.random.default_rng(i).standard_normal(t.values.shape)
            yield (
                f"numbers in the mask {t.name}",
                request.holding(i, t.holding(np.where(hides, t.values, numbers)).values),
            )


def _turned(request: Request) -> Iterator[tuple[str, Request]]:
    """Each mask of truth values, 0 and 1, of which every row is in order, turned round: padding on the other side."""
    for i, t in enumerate(request.tensors):
        values = t.values
        if t.param or values.ndim == 0 or values.shape[-1] < _ROW or not np.isin(values, (0, 1)).all():
            continue
        steps = np.diff(values.astype(np.int8), axis=-1)
        if (steps <= 0).all() and (steps < 0).any():
            yield f"{t.name} turned round", request.holding(i, values[..., ::-1].copy())


def _unlike(first: Right, request: Request) -> Iterator[tuple[str, Request]]:
    """Two tensors of whole numbers that are the same in both draws, the second with the other draw's."""
    whole = [i for i, t in enumerate(request.tensors) if not t.kind and not t.param and t.values.size > 1]
    other = first.variant.other
    for i, j in combinations(whole, 2):
        same = all(np.array_equal(some[i].values, some[j].values) for some in (request.tensors, other))
        fits = request.tensors[j].values.shape == other[j].values.shape
        if same and fits and not np.array_equal(request.tensors[j].values, other[j].values):
            names = [request.tensors[k].name for k in (j, i)]
            yield f"{names[0]} unlike {names[1]}", request.holding(j, other[j].values)
