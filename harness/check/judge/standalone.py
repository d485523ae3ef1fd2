"""A candidate where nobody judges: a program of its own imports it and calls it, in a process with no sign of a judge.

Who is right only where a judge is about (by the names on the stack, a fence, an audit hook) is wrong there. What it
may read there is no matter: it is held against what it has answered before.

What was right asked again by a program of its own, in which nothing tells of a judge.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from opproof.core.arrays import Array
from opproof.core.verdicts import FAILED
from opproof.harness.check.call.exchange import CallRequest, Reply, ReplyTensor
from opproof.harness.check.call.isolated import Located
from opproof.harness.check.call.subject import Form
from opproof.harness.check.judge.compare import find_off_answers
from opproof.harness.check.judge.outcome import PassedVariant, VariantResult, with_failure
from opproof.harness.check.tensors import CONTIGUOUS, to_torch
from opproof.harness.run.standalone.caller import PROGRAM, run

#: What answers requests there, and then, where there is time, each once more after many calls; None without answers.
Unwatched: TypeAlias = Callable[[Sequence[CallRequest]], Sequence[Reply] | None]

#: The program that calls a function of PyTorch.
_SCRIPT = PROGRAM / "tensors.py"
#: Kinds of nestings that a program is given as they are.
_PLAIN = (tuple, list, dict)


def make_standalone_caller(located: Located, form: Form, seconds: float) -> Unwatched:
    """What asks a function or class so, for at most so many seconds."""

    def ask(requests: Sequence[CallRequest]) -> Sequence[Reply] | None:
        if not _is_plain(form.arguments.spec):
            return None
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as there, suppress(Exception):
            for k, request in enumerate(requests):
                _put(Path(there, f"{k}.pt"), located, form.with_rest(request.rest), request)
            file = located.file.resolve()
            arguments = [str(file.parent), file.stem, located.label, there, str(len(requests))]
            run(_SCRIPT.read_text(encoding="utf-8"), Path.cwd(), arguments, seconds)
            first = [_read_reply(Path(there, f"{k}")) for k in range(len(requests))]
            with suppress(Exception):  # what it did not come to in its time
                first += [_read_reply(Path(there, f"{k}late")) for k in range(len(requests))]
            return first
        return None

    return ask


def _is_plain(spec: Any) -> bool:
    return spec.is_leaf() or (spec.type in _PLAIN and all(map(_is_plain, spec.children())))


def _put(path: Path, located: Located, form: Form, request: CallRequest) -> None:
    import torch

    tensors = [to_torch(torch, t, request.device) for t in request.tensors]
    given, named = form.arguments.split(tensors[: form.count])
    job = {
        "made_with": located.init, "evaluation": located.evaluation, "state": (*form.parameters, *form.buffers),
        "tensors": tensors, "given": given, "named": named, "seed": request.seed, "after": request.after,
        "needs": request.needs or (False,) * len(tensors),
        "cotangents": [None if g is None else torch.from_numpy(np.array(g)) for g in request.cotangents],
    }  # fmt: skip
    torch.save(job, path)


def _read_reply(path: Path) -> Reply:
    """What lies in files whose names begin so. Raises OSError, ValueError and their like where no answer does."""
    told = json.loads(Path(f"{path}.json").read_text(encoding="utf-8"))
    outputs = [_read_tensor(Path(f"{path}y{i}.npy"), name) for i, name in enumerate(told["outputs"])]
    gradients = [
        None if n is None else _read_tensor(Path(f"{path}d{i}.npy"), n) for i, n in enumerate(told["gradients"])
    ]
    return Reply(outputs=tuple(outputs), gradients=tuple(gradients))


def _read_tensor(path: Path, dtype: str) -> ReplyTensor:
    values: Array = np.load(path, allow_pickle=False)
    return ReplyTensor(values.astype(np.int64) if values.dtype.kind in "iu" else values, dtype.removeprefix("torch."))


#: What is said of a candidate that answers otherwise there.
WHERE = "where a program that is not opproof calls it; as it is called here it is right"


def by_script(found: Sequence[VariantResult], ask: Unwatched) -> list[VariantResult]:
    """What was tried, with the first that is wrong there: of the given inputs, of the largest and of the last."""
    some = _select_few([one for t in found if (one := t.right) is not None and _is_usual(one)])
    replies = ask([one.asked.request for one in some]) if some else None
    for one, reply in zip([*some, *some], replies or (), strict=False):  # the second time after many calls
        for mode, judgement in find_off_answers(one, reply):
            if judgement.verdict in FAILED:
                wrong = with_failure(one, reply, mode, judgement, WHERE)
                return [wrong if t.variant is one.variant else t for t in found]
    return list(found)


def _is_usual(one: PassedVariant) -> bool:
    return one.variant.layout == CONTIGUOUS and not one.variant.one and not one.asked.reply.draws


def _select_few(some: Sequence[PassedVariant]) -> list[PassedVariant]:
    if not some:
        return []
    largest = max(some, key=lambda one: sum(t.values.size for t in one.asked.request.tensors))
    chosen = {id(one): one for one in (some[0], largest, some[-1])}
    return list(chosen.values())
