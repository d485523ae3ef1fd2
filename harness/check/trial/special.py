"""NaN and infinity in one place of each input: whether they come through as in the reference, which is told.

It is no failure: a kernel that skips a masked tile never meets what PyTorch multiplies by 0, and may be right to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from opproof.core.arrays import Array
from opproof.harness.check.questions.variants import Variant
from opproof.harness.check.sides.alike import alike
from opproof.harness.check.sides.exchange import Answered
from opproof.harness.check.sides.reference import Ask, Native
from opproof.harness.check.trial.in_time import begun_in
from opproof.harness.check.trial.outcome import Right, Tried, by_candidate

#: So many tensors have one, each alone.
_TENSORS = 4
#: A row of so many places has halves.
_HALVED = 4
_SPECIAL = {"NaN": np.nan, "infinity": np.inf}


def nonfinite(first: Right, ask: Ask, reference: Native, seconds: float) -> Iterator[Tried]:
    """A variant, declined with what is told, for each number that does not come through as in the reference."""
    request = first.asked.request.plain
    floats = [i for i, t in enumerate(request.tensors) if t.kind and not t.marks and not t.param and t.values.size]
    for i in begun_in(seconds, floats[:_TENSORS]):
        t = request.tensors[i]
        for word, number in _SPECIAL.items():
            values = np.array(t.values)
            values.reshape(-1)[t.values.size // 2] = number
            asked = request.holding(i, values)
            wanted = reference.native(asked)
            if wanted.error:
                continue
            reply = ask(asked)
            name = f"{word} in {t.name}"
            said = reply.error or _difference(reply.outputs, wanted.outputs)
            if said:
                variant = Variant(name, "special", "contiguous", asked.tensors, asked.tensors)
                yield by_candidate(variant, said)


def hidden(first: Right, ask: Ask, reference: Native, seconds: float) -> Iterator[Tried]:
    """A variant, declined with what is told, where half a row of minus infinity gives no number, or another infinity.

    Words that a grammar rules out are so, whole tiles of them; who takes the largest of each tile subtracts infinities.
    """
    request = first.asked.request.plain
    floats = [i for i, t in enumerate(request.tensors) if t.kind and not t.marks and not t.param and t.values.ndim]
    for i in begun_in(seconds, floats[:_TENSORS]):
        t = request.tensors[i]
        if t.values.shape[-1] < _HALVED or not t.values.size or not t.values.min() < 0 < t.values.max():
            continue
        rows = np.array(t.values).reshape(-1, t.values.shape[-1])
        rows[-1::-2, : rows.shape[-1] // 2] = -np.inf
        asked = request.holding(i, rows.reshape(t.values.shape))
        wanted = reference.native(asked)
        if wanted.error or any(np.isnan(y.values).any() for y in wanted.outputs if y.values.dtype.kind == "f"):
            continue
        reply = ask(asked)
        if said := reply.error or _difference(reply.outputs, wanted.outputs):
            name = f"minus infinity in the first half of rows of {t.name}"
            yield by_candidate(Variant(name, "special", "contiguous", asked.tensors, asked.tensors), said, news=True)


def unread(first: Right, ask: Ask, reference: Native) -> Iterator[Tried]:
    """A variant, declined with what is told, where NaN in what the reference does not read comes out.

    Pages of a cache that no table names, and what lies behind a length, hold whatever was there before.
    """
    request = first.asked.request.plain
    for i, (t, d) in enumerate(zip(request.tensors, first.truth.gradients, strict=False)):
        if d is None or d.values.shape != t.values.shape or t.param or d.values.all() or not d.values.any():
            continue
        asked = request.holding(i, np.where(d.values == 0, np.nan, t.values))
        wanted = reference.native(asked)
        if wanted.error or not alike(wanted.outputs, first.asked.reply.outputs):
            continue
        reply = ask(asked)
        if said := reply.error or _difference(reply.outputs, wanted.outputs):
            name = f"NaN in what the reference does not read of {t.name}"
            yield by_candidate(Variant(name, "special", "contiguous", asked.tensors, asked.tensors), said, news=True)


def _difference(got: Sequence[Answered], wanted: Sequence[Answered]) -> str:
    """How NaN and infinities of outputs differ, in words; empty where they are in the same places."""
    for i, (y, w) in enumerate(zip(got, wanted, strict=False)):
        if y.values.shape != w.values.shape or y.values.dtype.kind != "f" or w.values.dtype.kind != "f":
            continue
        same = _class(y.values) == _class(w.values)
        if not same.all():
            at = tuple(int(n) for n in np.argwhere(~same)[0])
            place = f"[{', '.join(map(str, at))}]" if at else ""
            others = f"{int((~same).sum())} elements so"
            return f"y{i}{place} is {y.values[at]:.3g}, the reference's {w.values[at]:.3g}: {others}"
    return ""


def _class(values: Array) -> Array:
    """0 of numbers, 1 and -1 of infinities, 2 of NaN."""
    return np.where(np.isnan(values), 2, np.where(np.isinf(values), np.sign(values), 0))
