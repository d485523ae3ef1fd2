"""A candidate called from a standalone script: what was right is asked again where no judge is near.

A candidate that is right only where a judge is near (names on the stack, a fence, an audit hook) is wrong there. What
it may read there is no matter: it is held against what it has answered before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from opproof.core.verdicts import FAILED
from opproof.harness.check.call.exchange import CallRequest, Reply, ReplyTensor
from opproof.harness.check.call.isolated import Located
from opproof.harness.check.call.subject import Form
from opproof.harness.check.judge.compare import find_off_answers
from opproof.harness.check.judge.outcome import PassedVariant, VariantResult, with_failure
from opproof.harness.check.options import CallBudget
from opproof.harness.check.tensors import CONTIGUOUS, to_torch
from opproof.harness.run.standalone.caller import JobAnswer, ask_program

#: What answers requests there, and then, where there is time, each once more after many calls; None without answers.
Unwatched: TypeAlias = Callable[[Sequence[CallRequest]], Sequence[Reply] | None]

#: Kinds of nestings that a program is given as they are.
_PLAIN = (tuple, list, dict)


def make_standalone_caller(located: Located, form: Form, calls: CallBudget) -> Unwatched:
    """What asks a function or class so, for what is left of the time of calls."""

    def ask(requests: Sequence[CallRequest]) -> Sequence[Reply] | None:
        if not _is_plain(form.arguments.spec):
            return None
        seconds = min(located.seconds, calls.allowed.left)
        with suppress(Exception):
            jobs = [_make_job(located, form.with_rest(request.rest), request) for request in requests]
            answers = ask_program(located.file, jobs, seconds, limit=seconds, place=Path.cwd()).answers
            first = [_read_reply(answer, "") for answer in answers]
            with suppress(Exception):  # what it did not come to in its time
                first += [_read_reply(answer, "late ") for answer in answers]
            return first
        return None

    return ask


def _is_plain(spec: Any) -> bool:
    return spec.is_leaf() or (spec.type in _PLAIN and all(map(_is_plain, spec.children())))


def _make_job(located: Located, form: Form, request: CallRequest) -> dict[str, object]:
    import torch

    tensors = [to_torch(torch, t, request.device) for t in request.tensors]
    given, named = form.arguments.split(tensors[: form.count])
    return {
        "label": located.label, "made_with": located.init, "evaluation": located.evaluation,
        "state": (*form.parameters, *form.buffers), "tensors": tensors, "given": given, "named": named,
        "seed": request.seed, "after": request.after, "needs": request.needs or (False,) * len(tensors),
        "cotangents": [None if g is None else torch.from_numpy(np.array(g)) for g in request.cotangents],
    }  # fmt: skip


def _read_reply(answer: JobAnswer | None, when: str) -> Reply:
    """What a program answered. Raises LookupError and its like where no answer is."""
    assert answer is not None
    outputs, gradients = (
        [
            None
            if y is None
            else ReplyTensor(y.astype(np.int64) if y.dtype.kind in "iu" else y, kind.removeprefix("torch."))
            for y, kind in zip(answer.ways[way], answer.kinds[way], strict=True)
        ]
        for way in (f"{when}outputs", f"{when}gradients")
    )
    return Reply(outputs=tuple(y for y in outputs if y is not None), gradients=tuple(gradients))


#: What is said of a candidate that answers otherwise there.
WHERE = "where a program that is not opproof calls it; as it is called here it is right"


def by_script(found: Sequence[VariantResult], ask: Unwatched) -> list[VariantResult]:
    """What was tried, with the first that is wrong there: of the given inputs, of the largest and of the last."""
    some = _select_few([one for t in found if (one := t.right) is not None])
    replies = ask([one.asked.request for one in some]) if some else None
    for one, reply in zip([*some, *some], replies or (), strict=False):  # the second time after many calls
        for mode, judgement in find_off_answers(one, reply):
            if judgement.verdict in FAILED:
                wrong = with_failure(one, reply, mode, judgement, WHERE)
                return [wrong if t.variant is one.variant else t for t in found]
    return list(found)


def _select_few(right: Sequence[PassedVariant]) -> list[PassedVariant]:
    usual = (one for one in right if one.variant.layout == CONTIGUOUS and not one.variant.one)
    some = [one for one in usual if not one.asked.reply.draws]
    if not some:
        return []
    largest = max(some, key=lambda one: sum(t.values.size for t in one.asked.request.tensors))
    chosen = {id(one): one for one in (some[0], largest, some[-1])}
    return list(chosen.values())
