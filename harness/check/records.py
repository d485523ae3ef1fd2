"""What was tried as records: the same that runs leave, so that every report reads them.

What was tried, posed as the questions of our operators are, so that a diagnosis can be made of it.

The numbers and flags of a call by their names: those given beside tensors, and what the reference has by default.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from opproof.cases import Case
from opproof.cases._case import RESERVED
from opproof.core.dtypes import Kind
from opproof.core.verdicts import FAILED, WRONG, Mode, Verdict
from opproof.harness.check.call.reference import NoEnd, Reference, within
from opproof.harness.check.call.subject import is_module
from opproof.harness.check.judge.outcome import Tried
from opproof.harness.check.variants.inputs import names_of
from opproof.harness.clock import ENDLESS, Allowed
from opproof.harness.diagnose.diagnosis import explain, slight
from opproof.harness.diagnose.wrong import Wrong, every, wrongs
from opproof.harness.judge.judgement import Judgement
from opproof.harness.judge.outputs import Answer
from opproof.harness.reference.question import Posed
from opproof.harness.reference.torch.arithmetic import OutOfTime
from opproof.harness.repro.evidence import evidence
from opproof.harness.run.record import numbers, told
from opproof.reference_ops import Op
from opproof.reference_ops._op import FACTS
from opproof.reports import Result


def records(
    tried: Tried,
    reference: Reference,
    name: str,
    candidate: str,
    *,
    in_process: bool,
    beside: Mapping[Mode, Sequence[Wrong]] | None,
    until: Allowed = ENDLESS,
) -> list[Result]:
    """A record a mode that was judged; failures with a diagnosis where there is `beside`.

    `beside`: by mode what came in all variants. `until`: when a diagnosis is to end.
    """
    made = []
    for mode, judgement in tried.judgements.items():
        case = case_of(tried, name)
        asked = judgement.verdict in FAILED and beside is not None and not until.over
        posed = posed_of(tried, case, reference, mode, until) if asked else None
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
        others = [w for m in dict.fromkeys((mode, Mode.FORWARD)) for w in (beside or {}).get(m, ())]
        made.append(result if posed is None else _explained(result, posed, judgement, tried, others))
    return made


def _nothing(*_: Any) -> tuple[str, str]:
    """Of a declaration doubts/undeclared.py says what it would make right."""
    return "", ""


def _explained(result: Result, posed: Posed, judgement: Judgement, tried: Tried, others: Sequence[Wrong]) -> Result:
    """The record with a diagnosis and evidence, where they can be had: the verdict stands without them."""
    explained: dict[str, Any] = {}
    answer = answer_of(tried, posed.mode)
    for made in (
        lambda: told(
            *explain(posed, answer, judgement, others=others, declarable=_nothing),
            slight(wrongs(posed, answer, judgement)),
        ),
        lambda: {"evidence": evidence(posed, judgement)},
    ):
        try:
            explained |= made()
        except Exception:  # noqa: S112 - patterns are of our operators, these are anybody's
            continue
    return replace(result, **explained)


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


def parameters_of(reference: Reference, rest: tuple[Any, ...] | None) -> dict[str, Any]:
    """What a call has beside tensors, by name; `rest`: where it is not as given. Nothing of arguments in a nesting."""
    given = _given(reference, rest)
    if given is None:
        return {}
    by_name = reference.form.arguments.keywords
    by_default = {} if is_module(reference.subject) else _defaults(reference.subject, 0 if by_name else len(given))
    values = {**by_default, **dict(zip(_names(reference), given, strict=False))}
    return {name: v for name, v in values.items() if isinstance(v, bool | int | float)}


def with_parameters(reference: Reference, rest: tuple[Any, ...] | None, values: Mapping[str, Any]) -> Reference:
    """The reference with other numbers and flags of those names."""
    given, names = _given(reference, rest) or (), _names(reference)
    changed = tuple(values.get(name, v) for name, v in zip(names, given, strict=False))
    later = {name: v for name, v in values.items() if name not in names[: len(given)]}
    subject = functools.partial(reference.subject, **later) if later else reference.subject
    return Reference(subject, reference.form.with_rest((*changed, *given[len(changed) :])))


def _names(reference: Reference) -> Sequence[str]:
    """Of the arguments, in order."""
    return reference.form.arguments.keywords or names_of(reference.subject)


def _given(reference: Reference, rest: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
    """The arguments, None in place of tensors; None where some stand in a nesting."""
    arguments = reference.form.with_rest(rest).arguments
    flat = all(child.is_leaf() for child in arguments.spec.children())
    return arguments.rest if flat else None


def _defaults(function: Any, given: int) -> dict[str, Any]:
    """What parameters have where nothing is given, past so many that are given."""
    try:
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return {}
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {q.name: q.default for q in found[given:] if q.kind in named and q.default is not q.empty}
