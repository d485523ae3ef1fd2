"""What was tried as the records that runs leave, with a diagnosis for which it is posed as an operator's question."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from opproof.cases import Case
from opproof.cases._case import RESERVED
from opproof.core.dtypes import Kind
from opproof.core.verdicts import FAILED, WRONG, Mode, Verdict
from opproof.harness.check.call.reference import DeadlineExceeded, Reference, deadline
from opproof.harness.check.call.subject import is_module
from opproof.harness.check.judge.outcome import VariantResult
from opproof.harness.check.variants.inputs import names_of
from opproof.harness.clock import ENDLESS, Allowed
from opproof.harness.diagnose.diagnosis import explain, find_small_errors
from opproof.harness.diagnose.wrong import WrongTensor, list_all_tensors, list_wrong_tensors
from opproof.harness.judge.judgement import Judgement
from opproof.harness.judge.outputs import Outputs
from opproof.harness.reference.question import Question
from opproof.harness.reference.torch.arithmetic import OutOfTime
from opproof.harness.repro.evidence import collect_evidence
from opproof.harness.run.record import fields_of_diagnosis, fields_of_judgement
from opproof.reference_ops import Op
from opproof.reference_ops._op import FACTS
from opproof.reports import Result


@dataclass(frozen=True)
class Sides:
    """What is compared, by name, and where the candidate is called."""

    reference: Reference
    name: str
    candidate: str
    in_process: bool


def make_records(
    tried: VariantResult,
    sides: Sides,
    in_all_variants: Mapping[Mode, Sequence[WrongTensor]] | None = None,
    until: Allowed = ENDLESS,
) -> list[Result]:
    """A record a mode that was judged; failures with a diagnosis where there is `in_all_variants`.

    `in_all_variants`: by mode what came in all variants. `until`: when a diagnosis is to end.
    """
    made, case = [], case_of(tried.variant, sides.name)
    for mode, judgement in tried.judgements.items():
        asked = judgement.verdict in FAILED and in_all_variants is not None and not until.over
        posed = _pose_question(tried, sides, mode, until) if asked else None
        result = Result(
            case=str(case), op=sides.name, dtype=case.dtype, backend=sides.candidate, mode=mode,
            message=judgement.message, seconds=round(tried.reply.seconds, 6), in_process=sides.in_process,
            delta=tried.delta * (judgement.verdict in FAILED),
            **fields_of_judgement(judgement),
        )  # fmt: skip
        others = [w for m in dict.fromkeys((mode, Mode.FORWARD)) for w in (in_all_variants or {}).get(m, ())]
        made.append(result if posed is None else _add_diagnosis(result, posed, judgement, tried, others))
    return made


def _add_diagnosis(
    result: Result, posed: Question, judgement: Judgement, tried: VariantResult, others: Sequence[WrongTensor]
) -> Result:
    """The record with a diagnosis and evidence, where they can be had: the verdict stands without them."""
    explained: dict[str, Any] = {}
    answer = _answer_of(tried, posed.mode)
    for made in (
        lambda: fields_of_diagnosis(
            *explain(posed, answer, judgement, others=others, declarable=lambda *_: ("", "")),
            find_small_errors(list_wrong_tensors(posed, answer, judgement)),
        ),
        lambda: {"evidence": collect_evidence(posed, judgement)},
    ):
        try:
            explained |= made()
        except Exception:  # noqa: S112 - patterns are of our operators, these are anybody's
            continue
    return replace(result, **explained)


#: Seconds of one evaluation: with changed numbers it may have no end.
_MAX_EVALUATION_SECONDS = 5.0


def case_of(variant: Any, name: str) -> Case:
    """The case that stands for a variant in a record."""
    tensors = variant.case_data
    floats = [t.kind for t in tensors if t.kind and not t.param] or [t.kind for t in tensors if t.kind] or ["f32"]
    shapes = tuple((_label(t.name), t.shape) for t in tensors if not t.param)
    return Case(name, shapes, dtype=floats[0], fill=variant.fill, layout=variant.layout)


def _label(name: str) -> str:
    return f"{name}_" if name in (*RESERVED, "dtype") else name


def _pose_question(tried: VariantResult, sides: Sides, mode: Mode, until: Allowed) -> Question | None:
    """The question, so that patterns can be tried; None where it is none like those of our operators.

    Its reference raises OutOfTime from `until` on.
    """
    if tried.facts is None:
        return None
    request, reference, case = tried.facts.request, sides.reference, case_of(tried.variant, sides.name)
    names = tuple(_label(t.name) for t in request.tensors)
    whole = replace(case, tensors=tuple((n, t.values.shape) for n, t in zip(names, request.tensors, strict=True)))
    params = _parameters_of(reference, request.rest)

    def outputs(values: Mapping[str, Any]) -> Callable[..., Sequence[Any]]:
        changed = {n: v for n, v in values.items() if v is not params[n]}
        asked = _with_parameters(reference, request.rest, changed) if changed else reference
        return _in_time(asked.outputs(replace(request, rest=None) if changed else request), until)

    op = _make_op(case.op, names, outputs, tried.facts.names, params)
    inputs = tuple(t.values for t in request.tensors)
    needs = request.needs if mode is Mode.GRADIENT else tuple(bool(t.kind) for t in request.tensors)
    return Question(whole, op, mode, names, inputs, request.cotangents if mode is Mode.GRADIENT else (), needs)


def _answer_of(tried: VariantResult, mode: Mode) -> Outputs:
    reply = tried.reply.outputs if mode is Mode.FORWARD else tried.reply.gradients
    return Outputs([None if y is None else y.values for y in reply])


def tensors_of(tried: VariantResult, sides: Sides, mode: Mode, until: Allowed) -> list[WrongTensor]:
    """What came in a mode and was judged, right or wrong: where another variant is right refutes explanations."""
    judgement = tried.judgements.get(mode)
    if judgement is None or tried.truth is None:
        return []
    posed = _pose_question(tried, sides, mode, until)
    if posed is None:
        return []
    if judgement.verdict in WRONG:
        return list_all_tensors(posed, _answer_of(tried, mode), judgement)
    if judgement.verdict is not Verdict.PASS:
        return []
    forward = mode is Mode.FORWARD
    got = list(tried.reply.outputs if forward else tried.reply.gradients)
    expected = list(tried.truth.outputs if forward else tried.truth.gradients)
    found = []
    for which, (y, e) in enumerate(zip(got, expected, strict=False)):  # no gradient at all may have come, and pass
        if y is not None and e is not None and y.values.shape == e.values.shape:
            none = np.zeros(y.values.shape)
            found.append(WrongTensor(posed, which, "", y.values, e.values, e.scale, none.astype(bool), none, None))
    return found


def _in_time(outputs: Callable[..., Sequence[Any]], until: Allowed) -> Callable[..., Sequence[Any]]:
    """The same outputs. Raises OutOfTime where they are asked for too late, or take too long."""

    def asked(*tensors: Any) -> Sequence[Any]:
        left = until.left
        if left < 0:
            raise OutOfTime
        try:
            with deadline(min(left, _MAX_EVALUATION_SECONDS)):
                return outputs(*tensors)
        except DeadlineExceeded:
            raise OutOfTime from None

    return asked


def _make_op(
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
        tensors=tuple(tensors),
        optional=frozenset(),
        variadic=False,
        params=MappingProxyType(dict(params)),
        facts=facts,
        traits=frozenset(),
        kinds=frozenset({Kind.FLOAT}),
        rows={},
    )


def _parameters_of(reference: Reference, rest: tuple[Any, ...] | None) -> dict[str, Any]:
    """What a call has beside tensors, by name; `rest`: where it is not as given. Nothing of arguments in a nesting."""
    given = _take_given(reference, rest)
    if given is None:
        return {}
    by_name = reference.form.arguments.keywords
    by_default = {} if is_module(reference.subject) else _find_defaults(reference.subject, 0 if by_name else len(given))
    values = {**by_default, **dict(zip(_list_names(reference), given, strict=False))}
    return {name: v for name, v in values.items() if isinstance(v, bool | int | float)}


def _with_parameters(reference: Reference, rest: tuple[Any, ...] | None, values: Mapping[str, Any]) -> Reference:
    """The reference with other numbers and flags of those names."""
    given, names = _take_given(reference, rest) or (), _list_names(reference)
    changed = tuple(values.get(name, v) for name, v in zip(names, given, strict=False))
    later = {name: v for name, v in values.items() if name not in names[: len(given)]}
    subject = functools.partial(reference.subject, **later) if later else reference.subject
    return Reference(subject, reference.form.with_rest((*changed, *given[len(changed) :])))


def _list_names(reference: Reference) -> Sequence[str]:
    return reference.form.arguments.keywords or names_of(reference.subject)


def _take_given(reference: Reference, rest: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
    """The arguments, None in place of tensors; None where some stand in a nesting."""
    arguments = reference.form.with_rest(rest).arguments
    flat = all(child.is_leaf() for child in arguments.spec.children())
    return arguments.rest if flat else None


def _find_defaults(function: Any, given: int) -> dict[str, Any]:
    """What parameters have where nothing is given, past so many that are given."""
    try:
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return {}
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {q.name: q.default for q in found[given:] if q.kind in named and q.default is not q.empty}
