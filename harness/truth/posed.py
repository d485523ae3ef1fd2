"""A case as it is posed: what the operator is given, and what is asked of it; drawn once and handed on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from opproof.cases import Case
from opproof.cases._every import is_every
from opproof.harness.truth import flushed, reference
from opproof.harness.truth.data import arguments, cotangents_of, differentiable, inputs_of, ordered, parameters
from opproof.harness.truth.defined import where_computable, where_defined
from opproof.harness.truth.reference import Expected
from opproof.reference_ops import Op
from opproof.vocabulary.arrays import Array
from opproof.vocabulary.modes import Mode


@dataclass(frozen=True)
class Posed:
    """One case in one mode with its data. Arrays are float64, rounded to the case's dtype, or int64, bool."""

    case: Case
    op: Op
    mode: Mode
    names: tuple[str | None, ...]  # of the arguments; None where an optional one is absent
    inputs: tuple[Array | None, ...]
    cotangents: tuple[Array | None, ...]  # of every output, None of those that are not floats; empty in forward mode
    needs: tuple[bool, ...]  # which arguments' gradients are asked for
    runs: int = reference.RUNS  # of noise, for the scale of honest rounding,
    together: int = reference.RUNS  # so many at once

    @cached_property
    def params(self) -> Mapping[str, Any]:
        """Every parameter of the operator, defaults filled in."""
        return parameters(self.case, self.op)

    @cached_property
    def outputs(self) -> tuple[Array, ...]:
        """The exact outputs, evaluated when first asked for: a judge asks after the backend has answered."""
        return reference.forward(self.op, self.inputs, self.params)

    def expected(self, declared: str | None = None) -> list[Expected | None]:
        """reference.expected_of, evaluated once for each precision that backends declare."""
        if declared not in self._expected:
            self._expected[declared] = reference.expected_of(self, declared)
        return self._expected[declared]

    @cached_property
    def _expected(self) -> dict[str | None, list[Expected | None]]:
        return {}

    @cached_property
    def flushed(self) -> tuple[Sequence[Array | None], ...]:
        """What is as right where zero stands for numbers below the normal range; asked for where an answer fails."""
        return tuple(flushed.answers(self))

    def given(self, **changes: Any) -> Posed:
        """The same question of other inputs, cotangents or needs."""
        return replace(self, **changes)


@dataclass(frozen=True)
class Pair:
    """The question that is judged, and the same of other data, which is asked before and after it."""

    asked: Posed
    other: Posed


def pose(case: Case, op: Op, mode: Mode) -> Pair:
    """Draw the data of `case`. Shapes, dtypes and needs are found out on the other data, which are not judged."""
    names = tuple(arguments(case, op))
    inputs, others = (tuple(ordered(case, op, _drawn(case, op, mode, variant))) for variant in (0, 1))
    asked = Posed(case, op, mode, names, inputs, (), tuple(differentiable(case, op, inputs)))
    other = asked.given(inputs=others)
    if mode is Mode.FORWARD:
        return Pair(asked, other)
    needs = tuple(reference.needs_of(case, op, others, other.outputs))
    return Pair(
        asked.given(cotangents=_cotangents(case, other.outputs, 0), needs=needs),
        _keeping(other, other.given(cotangents=_cotangents(case, other.outputs, 1), needs=needs)),
    )


def _drawn(case: Case, op: Op, mode: Mode, variant: int) -> dict[str, Array]:
    values = inputs_of(case, op, variant)
    if is_every(case.fill):
        defined = where_defined(case, op, values) if mode is Mode.GRADIENT else values
        return where_computable(case, op, mode, defined)
    return where_computable(case, op, mode, values) if case.fill == "branches" and mode is Mode.GRADIENT else values


def _cotangents(case: Case, outputs: Sequence[Array], variant: int) -> tuple[Array | None, ...]:
    return tuple(cotangents_of(case, outputs, variant))


def _keeping(old: Posed, new: Posed) -> Posed:
    """`new`, with the outputs that `old` has evaluated already for the same inputs."""
    new.__dict__["outputs"] = old.outputs
    return new


def output_names(op: Op, count: int) -> list[str]:
    """Names of `count` outputs."""
    return list(op.outputs) if len(op.outputs) == count else [f"y{i}" for i in range(count)]
