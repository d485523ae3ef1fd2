"""Whole numbers past all that is drawn, as positions and codes, where the reference goes on and the candidate does not.

It is told and no failure: a table may end where draws do, and codes of seven bits are drawn so for a kernel's sake.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from opproof.core.arrays import Array
from opproof.harness.check.questions.variants import Variant
from opproof.harness.check.sides.alike import all_near
from opproof.harness.check.sides.exchange import Reply, Request
from opproof.harness.check.sides.reference import Ask, Native
from opproof.harness.check.tensors import CONTIGUOUS, Tensor
from opproof.harness.check.trial.in_time import begun_in
from opproof.harness.check.trial.outcome import Right, Tried, by_candidate

#: So many tensors, each alone.
_TENSORS = 3
#: Past what float16 counts to (2048) and what tables often hold; less than this is drawn.
_FURTHER, _DRAWN = 5000, 2048
#: And of larger ones, as seconds are, past what float32 counts to (2^24).
_MUCH_FURTHER, _COUNTED = {np.dtype(np.int32): 1 << 30, np.dtype(np.int64): 1 << 36}, 1 << 24
#: Of so few numbers that each is there once says little.
_FEW = 7
_CODES = frozenset(("uint8", "int8"))
#: What is told of it.
_OTHERWISE = "the candidate gives something else than the reference there, where no draw is"


def far(first: Right, ask: Ask, reference: Native, seconds: float) -> Iterator[Tried]:
    """A variant, declined with what is told, for each tensor of whole numbers. The candidate may die of it."""
    request = first.asked.request.plain
    if request.after or first.asked.reply.draws:
        return
    for name, asked in begun_in(seconds, (*_alone(request), *_together(request))):
        wanted = reference.native(asked)
        shapes = [[y.values.shape for y in some] for some in (wanted.outputs, first.asked.outputs)]
        if shapes[0] == shapes[1]:
            yield from told(name, "whole-numbers", asked, wanted, ask)


def told(name: str, fill: str, asked: Request, wanted: Reply, ask: Ask) -> Iterator[Tried]:
    """A variant, declined, where the answer is not near `wanted`, the reference's, of which all is finite."""
    if wanted.error or not all(np.isfinite(y.values).all() for y in wanted.outputs):
        return
    reply = ask(asked)
    if not reply.error and not all_near(reply.outputs, wanted.outputs):
        yield by_candidate(Variant(name, fill, CONTIGUOUS, asked.tensors, asked.tensors), _OTHERWISE, news=True)


def _whole(request: Request) -> list[int]:
    pairs = enumerate(request.tensors)
    return [i for i, t in pairs if not t.kind and not t.marks and not t.param and t.values.size]


def _alone(request: Request) -> Iterator[tuple[str, Request]]:
    for i in _whole(request)[:_TENSORS]:
        t = request.tensors[i]
        for said, values in (_further(t), _twice(t)):
            if said:
                yield f"{said} in {t.name}", request.holding(i, values)


def _together(request: Request) -> Iterator[tuple[str, Request]]:
    """All that are large as much larger: seconds of two clocks, of which a difference is as it was."""
    some = [i for i in _whole(request) if request.tensors[i].values.max() >= _DRAWN]
    made = {i: _further(request.tensors[i]) for i in some}
    if len(some) > 1 and len({said for said, _ in made.values()}) == 1 and made[some[0]][0]:
        names = " and ".join(request.tensors[i].name for i in some)
        for i, (_, values) in made.items():
            request = request.holding(i, values)
        yield f"{made[some[0]][0]} in {names}", request


def _twice(t: Tensor) -> tuple[str, Array]:
    """The numbers of one of which each is there once, as of pages, with the first in the place of a later one too."""
    values = t.values
    if values.size <= _FEW or np.unique(values).size < values.size or np.all(np.diff(values.ravel()) > 0):
        return "", values
    rows = np.array(values).reshape(-1, values.shape[-1])
    rows[len(rows) // 2, 0 if len(rows) > 1 else values.size // 2] = rows[0, 0]
    return "a number twice", rows.reshape(values.shape)


def _further(t: Tensor) -> tuple[str, Array]:
    """What is tried of one, in words, and its values; no words where nothing is."""
    values = t.values
    if t.dtype in _CODES:
        most = int(np.iinfo(t.dtype).max)
        made = np.where(np.arange(values.size).reshape(values.shape) % 3, values, most)
        return (f"{most}" if int(values.max()) < most else "", made.astype(values.dtype))
    most = int(values.max())
    more = _FURTHER if most < _DRAWN else _MUCH_FURTHER.get(np.dtype(t.dtype), _FURTHER)
    if values.dtype.kind != "i" or values.min() < 0 or most >= _COUNTED or most + more > np.iinfo(values.dtype).max:
        return "", values
    return f"{more} more", values + more
