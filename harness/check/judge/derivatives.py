"""Two modes more: `jvp`, the derivative along a direction, and `double`, the gradient of the gradient.

Either makes a function of the tensors and of random directions out of both sides, by PyTorch's autograd, and compares
its values as any other's: the noise of the reference goes through its derivatives.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from opproof.core.dtypes import DTYPES
from opproof.core.verdicts import Mode, Verdict
from opproof.harness.check.call.exchange import CallRequest, Reply
from opproof.harness.check.call.perform import Call, perform
from opproof.harness.check.call.reference import CallFn, Reference, restored_state
from opproof.harness.check.call.reference_reply import ReferenceReply, ask_reference
from opproof.harness.check.call.subject import as_call, in_dtype, in_float64
from opproof.harness.check.judge.outcome import VariantResult, by_reference
from opproof.harness.check.options import CheckOptions
from opproof.harness.check.tensors import CallTensor, flatten_outputs
from opproof.harness.judge.array_statistics import measure_array
from opproof.harness.judge.bound import C, compare
from opproof.harness.judge.judgement import JudgedTensor, Judgement, make_passing_judgement, of_the_whole
from opproof.harness.reference.question import Expected
from opproof.harness.reference.roundoff import compute_roundoff
from opproof.harness.reference.torch.evaluate import compute_truth


@dataclass(frozen=True)
class Derivative:
    """A mode, and of which tensors and outputs derivatives are taken."""

    mode: Mode
    needs: tuple[bool, ...]
    given: tuple[bool, ...]  # which outputs have a cotangent

    def of(self, call: Call) -> Call:
        """The derivative of `call` as a function of its tensors and the directions that follow them."""
        made = _push_tangents if self.mode is Mode.JVP else _differentiate_twice
        return lambda tensors: made(self, call, tensors)

    def directions(self, of: ReferenceReply, seed: int) -> tuple[CallTensor, ...]:
        """Random tangents of the inputs; for the double gradient cotangents of outputs, then of gradients."""
        rng = np.random.default_rng([seed, 5])

        def drawn(name: str, shape: tuple[int, ...], dtype: str) -> CallTensor:
            return CallTensor(name, np.zeros(0), dtype).holding(rng.standard_normal(shape))

        inputs = [t for t, need in zip(of.request.tensors, self.needs, strict=True) if need]
        along = tuple(drawn(f"along_{t.name}", t.values.shape, t.dtype) for t in inputs)
        if self.mode is Mode.JVP:
            return along
        outputs = [(i, y) for i, (y, g) in enumerate(zip(of.outputs, self.given, strict=False)) if g]
        return (*(drawn(f"g{i}", y.values.shape, y.dtype) for i, y in outputs), *along)


def _push_tangents(of: Derivative, call: Call, tensors: Sequence[Any]) -> list[Any]:
    import torch
    from torch.autograd import forward_ad

    inputs, along = tensors[: len(of.needs)], iter(tensors[len(of.needs) :])
    with warnings.catch_warnings(), forward_ad.dual_level(), torch.enable_grad():
        warnings.simplefilter("ignore")  # its formulas are compiled by what PyTorch itself calls deprecated
        duals = [
            forward_ad.make_dual(x.detach(), next(along)) if n else x for x, n in zip(inputs, of.needs, strict=True)
        ]
        found = [forward_ad.unpack_dual(y) for y in flatten_outputs(call(duals)) if y.is_floating_point()]
    if all(y.tangent is None for y in found):
        raise NotImplementedError("no output has a tangent: forward mode cannot see through the candidate")
    return [torch.zeros_like(y.primal) if y.tangent is None else y.tangent.detach() for y in found]


def _differentiate_twice(of: Derivative, call: Call, tensors: Sequence[Any]) -> list[Any]:
    """Gradients of sum(v · gradient), by the inputs and by the cotangents."""
    import torch

    count, several = len(of.needs), sum(of.given)
    inputs = [x.detach().requires_grad_() if n else x for x, n in zip(tensors[:count], of.needs, strict=True)]
    gs = [g.detach().requires_grad_() for g in tensors[count : count + several]]
    wanted = [x for x, n in zip(inputs, of.needs, strict=True) if n]
    with torch.enable_grad():
        ys = [y for y, g in zip(flatten_outputs(call(inputs)), of.given, strict=True) if g]
        if not all(y.requires_grad for y in ys):
            raise NotImplementedError("no output requires grad: autograd cannot see through the candidate")
        first = torch.autograd.grad(ys, wanted, gs, create_graph=True, allow_unused=True, materialize_grads=True)
        pairs = [(d, v) for d, v in zip(first, tensors[count + several :], strict=True) if d.requires_grad]
        if not pairs:
            raise NotImplementedError("no gradient requires grad: the backward cannot be differentiated")
        ds, vs = zip(*pairs, strict=True)
        return [*torch.autograd.grad(ds, [*wanted, *gs], vs, allow_unused=True, materialize_grads=True)]


@dataclass(frozen=True)
class Derived:
    """The derivative of a reference, as a reference."""

    reference: Reference
    derivative: Derivative

    def call_native(self, request: CallRequest) -> Reply:
        """In the dtypes of the request."""
        reply = perform(self.derivative.of(_make_native_call(self.reference.subject, self.reference, request)), request)
        return replace(reply, changed=())  # what a module keeps is judged with its values

    def outputs(self) -> Callable[..., Sequence[Any]]:
        """In float64."""
        subject = in_float64(self.reference.subject)
        derived = self.derivative.of(as_call(subject, self.reference.form))
        buffers = len(self.reference.form.buffers)
        first = len(self.derivative.needs) - buffers

        def outputs(*tensors: Any) -> Sequence[Any]:
            kept = [t.clone() if first <= i < first + buffers else t for i, t in enumerate(tensors)]
            with restored_state(subject):
                found: Sequence[Any] = derived(kept)
            return found

        return outputs


def _make_native_call(subject: Any, reference: Reference, request: CallRequest) -> Call:
    form = reference.form
    own = request.tensors[: form.count + len(form.parameters) + len(form.buffers)]
    return as_call(in_dtype(subject, own), form)


def make_derivative_call(
    candidate: Callable[[CallRequest], Any], reference: Reference, derivative: Derivative, device: str
) -> CallFn:
    """Requests for the derivative of the candidate; `candidate` gives it in the dtype of a request."""

    def ask(request: CallRequest) -> Reply:
        declined = False

        def call(tensors: Sequence[Any]) -> Any:
            nonlocal declined
            try:
                return derivative.of(_make_native_call(candidate(request), reference, request))(tensors)
            except NotImplementedError:
                declined = True
                raise

        reply = perform(call, replace(request, device=device))
        return replace(reply, cause=Verdict.UNSUPPORTED) if declined else reply

    return ask


def try_derivative(
    first: VariantResult, mode: Mode, reference: Reference, candidate: Callable[[CallRequest], Any], wish: CheckOptions
) -> VariantResult:
    """A variant that was tried, in one mode more."""
    of = first.facts
    if of is None or not of.request.cotangents:
        return VariantResult(first.variant, declined="the reference has no gradient of these inputs")
    cotangents = of.request.cotangents[: len(of.request.cotangents) - len(of.request.after)]
    derivative = Derivative(mode, of.request.needs, tuple(g is not None for g in cotangents))
    side = Derived(reference, derivative)
    tensors = (*of.request.tensors, *derivative.directions(of, wish.seed))
    asked = ask_reference(side, tensors, wish.seed, gradients=False)
    if isinstance(asked, str):
        return by_reference(first.variant, asked)
    reply = make_derivative_call(candidate, reference, derivative, wish.device)(asked.request)
    return VariantResult(first.variant, asked, None, reply, {mode: _judge_derivative(side, asked, reply, wish)})


def _judge_derivative(side: Derived, asked: ReferenceReply, reply: Reply, wish: CheckOptions) -> Judgement:
    if reply.error:
        return Judgement(reply.cause, reply.error)
    named = [f"{side.derivative.mode} {i}" for i in range(len(asked.outputs))]
    if len(reply.outputs) != len(named):
        return Judgement(Verdict.WRONG_SHAPE, f"{len(reply.outputs)} derivatives came, the reference has {len(named)}")
    for name, y, w in zip(named, reply.outputs, asked.outputs, strict=True):
        if y.values.shape != w.values.shape:
            return Judgement(Verdict.WRONG_SHAPE, f"{name} has shape {y.values.shape}: expected {w.values.shape}")
        if y.dtype != w.dtype:
            return Judgement(Verdict.WRONG_DTYPE, f"{name} has dtype {y.dtype}: expected {w.dtype}")
    compute = wish.compute if isinstance(wish.compute, str) else None  # by name none comes here
    question = asked.make_question(side.outputs(), compute)
    found = []
    for name, y, e, k in zip(named, reply.outputs, compute_truth(question).outputs, question.dtypes, strict=True):
        wide = _widen_normwise(e, k, compute)
        comparison = compare(y.values, wide, k)
        found.append(JudgedTensor(name, y.values, wide, comparison, measure_array(y.values, wide, comparison, k), k))
    failing = [j for j in found if not j.comparison.right]
    judgement = make_passing_judgement(found, failing)
    objection = of_the_whole(found, lambda j: j.figures.fault(declarable=False))
    if failing or objection:
        return replace(judgement, verdict=Verdict.WRONG_GRADIENT, message=objection, tensors=tuple(found))
    return judgement


def _widen_normwise(expected: Expected, kind: str, compute: str | None) -> Expected:
    """What may be off by one interior roundoff of its largest element: formulas of derivatives differ by as much."""
    finite = expected.values[np.isfinite(expected.values)]
    if expected.exact or not finite.size:
        return expected
    dtype = DTYPES[kind or "f32"]
    least = float(np.max(np.abs(finite))) * compute_roundoff(dtype, compute) / dtype.u / C
    return replace(expected, scale=np.maximum(expected.scale, least))
