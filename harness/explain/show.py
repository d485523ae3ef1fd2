"""Everything a case implies, as named float64 arrays: inputs, expected values, gradients, bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from opproof.cases import Case
from opproof.harness.judge.bound import bound_of
from opproof.harness.run.execute import output_names
from opproof.harness.run.plan import Selection, has_gradient, operators
from opproof.harness.truth import differences, reference
from opproof.harness.truth.data import arguments, cotangents_of, inputs_of, ordered
from opproof.vocabulary.dtypes import DTYPES


def arrays_of(case: Case, folders: Sequence[str] = ()) -> dict[str, NDArray[Any]]:
    """Arrays by name: `input x`, `expected y`, `bound y`, `cotangent y`, `gradient x`, `gradient bound x`."""
    op = operators(Selection(ops=(case.op,), folders=tuple(folders)))[0]
    dtype = DTYPES[case.dtype]
    values = inputs_of(case, op)
    inputs = ordered(case, op, values)
    found: dict[str, NDArray[Any]] = {f"input {n}": v for n, v in values.items()}
    expected = reference.expected_forward(case, op, inputs)
    names = output_names(op, len(expected))
    for name, e in zip(names, expected, strict=True):
        found[f"expected {name}"], found[f"bound {name}"] = e.values, bound_of(e, dtype)
    needs = reference.needs_of(case, op, inputs)
    if not has_gradient(case, op) or not any(needs):
        return found
    cotangents = cotangents_of(case, [e.values for e in expected])
    found.update({f"cotangent {n}": g for n, g in zip(names, cotangents, strict=True) if g is not None})
    if op.vjp is None:
        estimates = differences.gradients(case, op, inputs, cotangents, needs)
        gradients = [None if e is None else e.expected for e in estimates]
    else:
        gradients = reference.expected_vjp(case, op, inputs, cotangents, needs)
    for argument, e2 in zip(arguments(case, op), gradients, strict=True):
        if e2 is not None:
            found[f"gradient {argument}"], found[f"gradient bound {argument}"] = e2.values, bound_of(e2, dtype)
    return found
