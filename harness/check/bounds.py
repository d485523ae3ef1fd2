"""Expected values and bounds of a PyTorch function, for asserts of one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from opproof.core.dtypes import DTYPES
from opproof.core.errors import UsageError
from opproof.harness.check.comparison import compare
from opproof.harness.check.questions.inputs import given, names_of
from opproof.harness.check.sides.facts import Facts, facts
from opproof.harness.check.sides.leaves import flat
from opproof.harness.check.sides.reference import Reference, kinds
from opproof.harness.check.sides.subject import Form, is_module, owned_by
from opproof.harness.check.tensors import as_array, kind_of
from opproof.harness.judge.array_statistics import figures
from opproof.harness.judge.bound import bound_of as allowed
from opproof.harness.reference.expected import Expected
from opproof.harness.reference.torch.evaluate import Question, truth


@dataclass(frozen=True)
class Bound:
    """What is expected, and how far each element may be off: an array, or a tuple of them where there are several."""

    values: Any  # float64, int64 or bool
    bound: Any  # float64


def bound_of(reference: Callable[..., Any], tensors: Sequence[Any], dtype: str | None, compute: str | None) -> Bound:
    """Of every output of `reference(*tensors)`."""
    expected, found = _expected(reference, tensors, dtype, compute)
    bounds = [allowed(e, DTYPES[kind_of(y.dtype) or "f32"]) for e, y in zip(expected, found.outputs, strict=True)]
    values = tuple(e.values for e in expected)
    return Bound(values[0], bounds[0]) if len(values) == 1 else Bound(values, tuple(bounds))


def objection(actual: Any, like: Callable[..., Any], inputs: Sequence[Any], compute: str | None) -> str:
    """Why `actual` is not `like(*inputs)`; empty where it is."""
    expected, found = _expected(like, inputs, None, compute)
    got = flat(actual)
    if len(got) != len(expected):
        return f"{len(got)} tensors came, the reference has {len(expected)}"
    for i, (y, e, native) in enumerate(zip(got, expected, found.outputs, strict=True)):
        values, dtype = as_array(y)
        if values.shape != e.values.shape:
            return f"y{i} has shape {values.shape}: expected {e.values.shape}"
        if dtype != native.dtype:
            return f"y{i} has dtype {dtype}: expected {native.dtype}"
        kind = kind_of(dtype) or "f32"
        comparison = compare(values, e, kind)
        if not comparison.right:
            at = comparison.worst or ()
            count = int((~comparison.passed).sum())
            return (
                f"{count} of {comparison.passed.size} elements of y{i} are out of their bounds: at {list(at)} "
                f"got {values[at]:.9g}, expected {e.values[at]:.9g}, bound {comparison.bound[at]:.3g}"
            )
        if text := figures(values, e, comparison, kind).fault(declarable=False):
            return f"y{i}: {text}"
    return ""


def _expected(
    reference: Callable[..., Any], tensors: Sequence[Any], dtype: str | None, compute: str | None
) -> tuple[Sequence[Expected], Facts]:
    arguments, asked, _ = given(list(tensors), names_of(reference), dtype, 0)
    owned = owned_by(reference, dtype) if is_module(reference) else ()
    parameters, buffers = (tuple(t.name for t in owned if t.buffer is b) for b in (False, True))
    side = Reference(reference, Form(arguments, len(asked), parameters, buffers))
    found = facts(side, (*asked, *owned), 0, gradients=False)
    if isinstance(found, str):
        raise UsageError(f"the reference: {found}: give tensors that it takes.")
    request = found.request
    question = Question(
        side.outputs(request),
        tuple(np.asarray(t.values) for t in request.tensors),
        (False,) * len(request.tensors),
        tuple(kind_of(y.dtype) for y in found.outputs),
        kinds(request.tensors),
        compute=compute,
        seed=request.seed,
        draws=found.reply.draws,
    )
    return truth(question).outputs, found
