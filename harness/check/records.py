"""What was tried as records: the same that runs leave, so that every report reads them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from opproof.cases import Case
from opproof.cases._case import RESERVED
from opproof.harness.check.sides.reference import Reference
from opproof.harness.check.trial.tried import Tried
from opproof.harness.diagnose.diagnosis import diagnose
from opproof.harness.explain.evidence import evidence
from opproof.harness.judge.answer import Answer
from opproof.harness.judge.judgement import Judgement
from opproof.harness.run.record import numbers
from opproof.harness.truth.posed import Posed
from opproof.reference_ops import Op
from opproof.reference_ops._op import FACTS
from opproof.reports import Result
from opproof.vocabulary.dtypes import Kind
from opproof.vocabulary.modes import Mode
from opproof.vocabulary.verdicts import FAILED


class OutOfTime(ArithmeticError):
    """Of a reference that is asked again when the time for a diagnosis is over: its patterns do not fit then."""


def records(
    tried: Tried, reference: Reference, name: str, candidate: str, *, in_process: bool, until: float
) -> list[Result]:
    """A record a mode that was judged; failures with a diagnosis that has time until `until`, of time.monotonic()."""
    made = []
    for mode, judgement in tried.judgements.items():
        case = _case(tried, name)
        explain = judgement.verdict in FAILED and time.monotonic() < until
        posed = _posed(tried, case, reference, mode, until) if explain else None
        result = Result(
            case=str(case),
            op=name,
            dtype=case.dtype,
            backend=candidate,
            mode=mode,
            message=judgement.message,
            seconds=round(tried.reply.seconds, 6),
            in_process=in_process,
            **numbers(judgement),
        )
        made.append(result if posed is None else _explained(result, posed, judgement, tried))
    return made


def _explained(result: Result, posed: Posed, judgement: Judgement, tried: Tried) -> Result:
    """The record with a diagnosis and evidence, where they can be had: the verdict stands without them."""
    reply = tried.reply.outputs if posed.mode is Mode.FORWARD else tried.reply.gradients
    arrays = [None if y is None else y.values for y in reply]
    explained: dict[str, Any] = {}
    for key, made in (
        ("diagnosis", lambda: diagnose(posed, Answer(arrays), judgement)),
        ("evidence", lambda: evidence(posed, judgement)),
    ):
        try:
            explained[key] = made()
        except Exception:  # noqa: S112 - patterns are of our operators, these are anybody's
            continue
    return replace(result, **explained)


def _case(tried: Tried, name: str) -> Case:
    tensors = tried.variant.asked
    floats = [t.kind for t in tensors if t.kind and not t.param] or [t.kind for t in tensors if t.kind] or ["f32"]
    shapes = tuple((_label(t.name), t.shape) for t in tensors if not t.param)
    return Case(name, shapes, dtype=floats[0], fill=tried.variant.fill, layout=tried.variant.layout)


def _label(name: str) -> str:
    return f"{name}_" if name in (*RESERVED, "dtype") else name


def _posed(tried: Tried, case: Case, reference: Reference, mode: Mode, until: float) -> Posed | None:
    """The question as our operators' are posed, so that patterns can be tried; None where it is none like them."""
    if tried.facts is None:
        return None
    request = tried.facts.request
    names = tuple(_label(t.name) for t in request.tensors)
    whole = replace(case, tensors=tuple((n, t.values.shape) for n, t in zip(names, request.tensors, strict=True)))
    op = _op(case.op, names, _in_time(reference.outputs(request), until), tried.facts.names)
    inputs = tuple(t.values for t in request.tensors)
    needs = request.needs if mode is Mode.GRADIENT else tuple(bool(t.kind) for t in request.tensors)
    return Posed(whole, op, mode, names, inputs, request.cotangents if mode is Mode.GRADIENT else (), needs)


def _in_time(outputs: Callable[..., Sequence[Any]], until: float) -> Callable[..., Sequence[Any]]:
    """The same outputs. Raises OutOfTime where they are asked for too late."""

    def asked(*tensors: Any) -> Sequence[Any]:
        if time.monotonic() > until:
            raise OutOfTime
        return outputs(*tensors)

    return asked


def _op(name: str, tensors: Sequence[str], outputs: Callable[..., Sequence[Any]], named: tuple[str, ...]) -> Op:
    """A PyTorch function as an operator of NumPy arrays."""
    import torch

    def leaves(inputs: Sequence[Any]) -> list[Any]:
        return [torch.from_numpy(np.array(x)) for x in inputs]

    def forward(*inputs: Any) -> Any:
        ys = [y.detach().numpy() for y in outputs(*leaves(inputs))]
        return tuple(ys) if len(ys) > 1 else ys[0]

    def vjp(g: Any, y: Any, *inputs: Any) -> Any:
        del y
        given = [x.requires_grad_() if x.is_floating_point() else x for x in leaves(inputs)]
        pairs = [
            (y, torch.from_numpy(np.asarray(c)))
            for y, c in zip(outputs(*given), g if isinstance(g, tuple) else (g,), strict=True)
            if c is not None and y.requires_grad
        ]
        wanted = [x for x in given if x.requires_grad]
        ys, gs = zip(*pairs, strict=True)
        found = iter(torch.autograd.grad(ys, wanted, gs, allow_unused=True, materialize_grads=True))
        return tuple(next(found).numpy() if x.requires_grad else None for x in given)

    facts = {**FACTS, "OUTPUTS": named}
    return Op(
        name=name,
        doc=f"{name}: a function of PyTorch.",
        source=Path(name),
        forward=forward,
        vjp=vjp,
        torch=None,
        kinks=None,
        ties=None,
        settled=None,
        drawn=None,
        unfair=None,
        conventions=None,
        hidden=None,
        held=None,
        domain=None,
        independent=None,
        partials=None,
        tensors=tuple(tensors),
        optional=frozenset(),
        variadic=False,
        params=MappingProxyType({}),
        facts=facts,
        traits=frozenset(),
        kinds=frozenset({Kind.FLOAT}),
        rows={},
    )
