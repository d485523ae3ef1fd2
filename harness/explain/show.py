"""Everything a case implies, as named float64 arrays: inputs, expected values, gradients, bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opproof.cases import Case
from opproof.cases._data import is_unconstrained
from opproof.cases._every import is_every
from opproof.core.arrays import Array, Closed, Whole
from opproof.core.dtypes import DTYPES
from opproof.core.errors import UsageError
from opproof.core.verdicts import Mode
from opproof.harness.judge.bound import bound_of
from opproof.harness.reference import finite_differences
from opproof.harness.reference.expected import expected_forward, expected_vjp
from opproof.harness.reference.question import output_names, pose
from opproof.harness.run.plan import Selection, has_gradient, operators
from opproof.reference_ops import Op


def domain_of(case: Case, folders: Sequence[str] = ()) -> list[str]:
    """A line for each tensor whose numbers the operator's `domain` confines: what is done to what is drawn."""
    op = operators(Selection(ops=(case.op,), folders=tuple(folders)))[0]
    constraints = op.domain(case.shapes, **case.kwargs) if op.domain else {}
    within = {name: c.within if isinstance(c, Closed) else c for name, c in constraints.items() if name in case.shapes}
    return [
        f"domain of {name}: {_ends(c, closed=isinstance(constraints[name], Closed))}; {_treatment(case, op)}"
        for name, c in within.items()
        if c in ("nonzero", "definite") or (isinstance(c, tuple) and not isinstance(c, Whole))
    ]


def _ends(constraint: Any, *, closed: bool) -> str:
    if isinstance(constraint, str):
        return {"nonzero": "numbers other than 0", "definite": "symmetric positive definite matrices"}[constraint]
    low, high = constraint
    return f"from {low:g} to {high:g}" if closed else f"between {low:g} and {high:g}"


def _treatment(case: Case, op: Op) -> str:
    """What is done to numbers outside of a domain, by the fill of the case."""
    if is_every(case.fill):
        return "numbers outside are asked for too" if op.facts["BEYOND"] else "numbers outside are replaced by others"
    return "what is drawn stays" if is_unconstrained(case.fill) else "what is drawn is mapped into it"


def mode_of(case: Case, folders: Sequence[str] = (), asked: str | None = None) -> Mode:
    """The mode whose data are meant: the one that was asked for, else the gradient's where the case has one.

    Raises UsageError where a gradient is asked for of a case that has none.
    """
    op = operators(Selection(ops=(case.op,), folders=tuple(folders)))[0]
    differentiated = has_gradient(case, op)
    if asked == Mode.GRADIENT and not differentiated:
        raise UsageError(f"{case} has no gradient: give --mode forward, or none.")
    return Mode.GRADIENT if differentiated and asked != Mode.FORWARD else Mode.FORWARD


def arrays_of(case: Case, folders: Sequence[str] = (), asked: str | None = None) -> dict[str, Array]:
    """Arrays by name: `input x`, `expected y`, `bound y`, `cotangent y`, `gradient x`, `gradient bound x`.

    `asked`: the mode; in some operators each has data of its own, as a gradient is drawn where there is one. See
    `mode_of`.
    """
    op = operators(Selection(ops=(case.op,), folders=tuple(folders)))[0]
    dtype = DTYPES[case.dtype]
    mode = mode_of(case, folders, asked)
    posed = pose(case, op, mode).asked
    arrays: dict[str, Array] = {
        f"input {n}": v for n, v in zip(posed.names, posed.inputs, strict=True) if v is not None
    }
    expected = expected_forward(posed)
    names = output_names(op, len(expected))
    for name, e in zip(names, expected, strict=True):
        arrays[f"expected {name}"], arrays[f"bound {name}"] = e.values, bound_of(e, dtype)
    if mode is Mode.FORWARD or not any(posed.needs):
        return arrays
    arrays |= {f"cotangent {n}": g for n, g in zip(names, posed.cotangents, strict=True) if g is not None}
    if op.vjp is None:
        gradients = [None if e is None else e.expected for e in finite_differences.gradients(posed)]
    else:
        gradients = expected_vjp(posed)
    for argument, e2 in zip(posed.names, gradients, strict=True):
        if e2 is not None:
            kind = DTYPES[case.dtype_of(argument)]
            arrays[f"gradient {argument}"], arrays[f"gradient bound {argument}"] = e2.values, bound_of(e2, kind)
    return arrays
