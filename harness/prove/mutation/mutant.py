"""Mutants of the reference backend: each is the honest backend with one defect of a kind that real libraries had.

A mutant is a function from a `Call` to the results that the defective backend gives. Families of mutants are the
files of this folder with a function `mutants`; each takes a `Profile`, which says what an operator's cases hold in
one mode, and yields those of its mutants that make sense there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from opproof.cases import Case
from opproof.core.arrays import Array
from opproof.harness.prove.mutation.arrays import Arrays, on_floats
from opproof.harness.prove.mutation.call import Call
from opproof.reference_ops import Op


@dataclass(frozen=True)
class Mutant:
    """A defect. `must_show`: where no case shows it, a case is missing; else it is no defect of this operator."""

    name: str
    results: Callable[[Call], Arrays]
    must_show: bool = True


@dataclass(frozen=True)
class Profile:
    """What the cases of one operator and one dtype hold in one mode."""

    op: Op
    mode: str
    dtype: str
    cases: tuple[Case, ...]
    inputs: tuple[str, ...]  # names of arguments; of a variadic operator the first case's
    floats: frozenset[int]  # arguments that are float tensors
    graded: frozenset[int]  # arguments with a gradient
    read: frozenset[int]  # arguments whose values the results depend on
    results: int  # how many outputs, or gradients, there are at most
    discrete: bool  # some result is whole numbers or truth values
    moving: bool  # some result is a float other than zero
    rank: int  # the most axes that a result has
    cotangent_rank: int  # the most axes that an output has

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Pairs of float arguments that have the same shape in some case."""
        found = {
            (i, j)
            for case in self.cases
            for i in self.floats
            for j in self.floats
            if i < j and self._shape(case, i) is not None and self._shape(case, i) == self._shape(case, j)
        }
        yield from sorted(found)

    def _shape(self, case: Case, i: int) -> Any:
        return case.shapes.get(self.inputs[i])


def of_results(name: str, change: Callable[[Array], Array], *, must_show: bool = True) -> Mutant:
    """A mutant that changes every float result."""
    return Mutant(name, lambda call: on_floats(change, call.right), must_show)


def mutants_of(profile: Profile) -> list[Mutant]:
    """All mutants of one operator in one mode."""
    from opproof.harness.prove.mutation import draws as mutants_draws
    from opproof.harness.prove.mutation import gradients as mutants_gradients
    from opproof.harness.prove.mutation import inputs as mutants_inputs
    from opproof.harness.prove.mutation import interior as mutants_interior
    from opproof.harness.prove.mutation import memory as mutants_memory
    from opproof.harness.prove.mutation import params as mutants_params
    from opproof.harness.prove.mutation import precision as mutants_precision
    from opproof.harness.prove.mutation import results as mutants_results
    from opproof.harness.prove.mutation import rules as mutants_rules
    from opproof.harness.prove.mutation import store as mutants_store
    from opproof.harness.prove.mutation import sums as mutants_sums
    from opproof.harness.prove.mutation import whole as mutants_whole

    elsewhere = (mutants_inputs, mutants_params, mutants_memory, mutants_precision)
    narrow = (mutants_interior, mutants_store)
    families = (
        mutants_results,
        *elsewhere,
        *narrow,
        mutants_gradients,
        mutants_rules,
        mutants_sums,
        mutants_draws,
        mutants_whole,
    )
    found = [m for family in families for m in family.mutants(profile)]
    assert len({m.name for m in found}) == len(found), f"two mutants of {profile.op.name} have one name"
    return found
