"""What was tried, posed as the questions of our operators are, so that a diagnosis can be made of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from opproof.cases import Case
from opproof.cases._case import RESERVED
from opproof.core.dtypes import Kind
from opproof.core.verdicts import WRONG, Mode, Verdict
from opproof.harness.check.questions.named import parameters_of, with_parameters
from opproof.harness.check.sides.patience import NoEnd, within
from opproof.harness.check.sides.reference import Reference
from opproof.harness.check.trial.outcome import Tried
from opproof.harness.clock import Allowed
from opproof.harness.diagnose.wrong import Wrong, every
from opproof.harness.judge.outputs import Answer
from opproof.harness.reference.question import Posed
from opproof.harness.reference.torch.arithmetic import OutOfTime
from opproof.reference_ops import Op
from opproof.reference_ops._op import FACTS

#: Seconds of one evaluation: with changed numbers it may have no end.
_LONGEST = 5.0


def case_of(tried: Tried, name: str) -> Case:
    """The case that stands for a variant in a record."""
    tensors = tried.variant.asked
    floats = [t.kind for t in tensors if t.kind and not t.param] or [t.kind for t in tensors if t.kind] or ["f32"]
    shapes = tuple((_label(t.name), t.shape) for t in tensors if not t.param)
    return Case(name, shapes, dtype=floats[0], fill=tried.variant.fill, layout=tried.variant.layout)


def _label(name: str) -> str:
    return f"{name}_" if name in (*RESERVED, "dtype") else name


def posed_of(tried: Tried, case: Case, reference: Reference, mode: Mode, until: Allowed) -> Posed | None:
    """The question, so that patterns can be tried; None where it is none like those of our operators.

    Its reference raises OutOfTime from `until` on.
    """
    if tried.facts is None:
        return None
    request = tried.facts.request
    names = tuple(_label(t.name) for t in request.tensors)
    whole = replace(case, tensors=tuple((n, t.values.shape) for n, t in zip(names, request.tensors, strict=True)))
    params = parameters_of(reference, request.rest)

    def outputs(values: Mapping[str, Any]) -> Callable[..., Sequence[Any]]:
        changed = {n: v for n, v in values.items() if v is not params[n]}
        asked = with_parameters(reference, request.rest, changed) if changed else reference
        return _in_time(asked.outputs(replace(request, rest=None) if changed else request), until)

    op = _op(case.op, names, outputs, tried.facts.names, params)
    inputs = tuple(t.values for t in request.tensors)
    needs = request.needs if mode is Mode.GRADIENT else tuple(bool(t.kind) for t in request.tensors)
    return Posed(whole, op, mode, names, inputs, request.cotangents if mode is Mode.GRADIENT else (), needs)


def answer_of(tried: Tried, mode: Mode) -> Answer:
    """What came, as answers of backends are held."""
    reply = tried.reply.outputs if mode is Mode.FORWARD else tried.reply.gradients
    return Answer([None if y is None else y.values for y in reply])


def tensors_of(tried: Tried, name: str, reference: Reference, mode: Mode, until: Allowed) -> list[Wrong]:
    """What came in a mode and was judged, right or wrong: where another variant is right refutes explanations."""
    judgement = tried.judgements.get(mode)
    if judgement is None or tried.truth is None:
        return []
    posed = posed_of(tried, case_of(tried, name), reference, mode, until)
    if posed is None:
        return []
    if judgement.verdict in WRONG:
        return every(posed, answer_of(tried, mode), judgement)
    if judgement.verdict is not Verdict.PASS:
        return []
    forward = mode is Mode.FORWARD
    got = list(tried.reply.outputs if forward else tried.reply.gradients)
    expected = list(tried.truth.outputs if forward else tried.truth.gradients)
    found = []
    for which, (y, e) in enumerate(zip(got, expected, strict=False)):  # no gradient at all may have come, and pass
        if y is not None and e is not None and y.values.shape == e.values.shape:
            none = np.zeros(y.values.shape)
            found.append(Wrong(posed, which, "", y.values, e.values, e.scale, none.astype(bool), none, None))
    return found


def _in_time(outputs: Callable[..., Sequence[Any]], until: Allowed) -> Callable[..., Sequence[Any]]:
    """The same outputs. Raises OutOfTime where they are asked for too late, or take too long."""

    def asked(*tensors: Any) -> Sequence[Any]:
        left = until.left
        if left < 0:
            raise OutOfTime
        try:
            with within(min(left, _LONGEST)):
                return outputs(*tensors)
        except NoEnd:
            raise OutOfTime from None

    return asked


def _op(
    name: str, tensors: Sequence[str], outputs: Callable[[Mapping[str, Any]], Callable[..., Sequence[Any]]],
    named: tuple[str, ...], params: Mapping[str, Any],
) -> Op:  # fmt: skip
    """A PyTorch function as an operator of NumPy arrays; `params`: what its numbers and flags are."""
    import torch

    def leaves(inputs: Sequence[Any]) -> list[Any]:
        return [torch.from_numpy(np.array(x)) for x in inputs]

    def forward(*inputs: Any, **values: Any) -> Any:
        ys = [y.detach().numpy() for y in outputs(values)(*leaves(inputs))]
        return tuple(ys) if len(ys) > 1 else ys[0]

    def vjp(g: Any, y: Any, *inputs: Any, **values: Any) -> Any:
        del y
        given = [x.requires_grad_() if x.is_floating_point() else x for x in leaves(inputs)]
        pairs = [
            (y, torch.from_numpy(np.asarray(c)))
            for y, c in zip(outputs(values)(*given), g if isinstance(g, tuple) else (g,), strict=True)
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
        params=MappingProxyType(dict(params)),
        facts=facts,
        traits=frozenset(),
        kinds=frozenset({Kind.FLOAT}),
        rows={},
    )
