"""A failing case made small: greedy steps, each kept while the case still fails in the same way.

The steps, as in delta debugging (Zeller, Hildebrandt, Simplifying and isolating failure-inducing
input, 2002): the plainest dtype, fill, layout and parameters first, then fewer tensors and axes, then
smaller sizes, from 1 up, so that a size ends at the smallest one that fails or at one whose
predecessor passes. Sizes that are equal are mostly tied (the k of a matmul, a norm's weight), so
they shrink together; one by one only where that gains nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

from opproof.cases import Case, cases_of
from opproof.harness.explain.steps import simpler
from opproof.harness.reference import expected
from opproof.harness.reference.data import inputs_of, ordered, parameters
from opproof.reference_ops import Op


@dataclass(frozen=True)
class Shrunk:
    """The smallest case found, and how many candidates it took."""

    case: Case
    tried: int  # ran on the backend
    invalid: int  # rejected by the reference


def shrink(case: Case, op: Op, fails: Callable[[Case], bool], most: int = 2000) -> Shrunk:
    """The smallest case in reach of `case` for which `fails` holds; at most `most` candidates are run."""
    tried, invalid = 0, 0
    seen = {str(case)}
    allowed = _allowed(case, op)
    while tried < most:
        for candidate in simpler(case, op):
            if str(candidate) in seen:
                continue
            seen.add(str(candidate))
            if not (allowed(candidate) and valid(candidate, op)):
                invalid += 1
                continue
            tried += 1
            if fails(candidate):
                case = candidate
                break
            if tried >= most:
                return Shrunk(case, tried, invalid)
        else:
            break
    return Shrunk(case, tried, invalid)


def _allowed(case: Case, op: Op) -> Callable[[Case], bool]:
    """What holds in all of the operator's own cases (and in `case`), since references accept more.

    Ranks are those that a tensor has there; sizes that are equal in each of them stay so.
    """
    own = cases_of(op.name, rows=op.rows)
    ranks = _ranks(case).union(*map(_ranks, own))
    ties = _ties([*map(_sizes, own), _sizes(case)])

    def allowed(candidate: Case) -> bool:
        sizes = _sizes(candidate)
        tied = all(sizes[a] == sizes[b] for a, b in ties if a in sizes and b in sizes)
        return tied and _ranks(candidate) <= ranks

    return allowed


def _ranks(case: Case) -> set[tuple[str, int]]:
    return {(name, len(shape)) for name, shape in case.shapes.items()}


def _sizes(case: Case) -> dict[tuple[str, int], object]:
    """Sizes of the axes of tensors, and the entries of parameters, counted from the last."""
    tuples = [*case.shapes.items(), *((n, v) for n, v in case.params if isinstance(v, tuple))]
    return {(name, i - len(values)): n for name, values in tuples for i, n in enumerate(values)}


def _ties(cases: Iterable[Mapping[tuple[str, int], object]]) -> list[tuple[tuple[str, int], tuple[str, int]]]:
    """Pairs of places that are equal wherever both are, at several values."""
    pairs: dict[tuple[tuple[str, int], tuple[str, int]], set[tuple[object, object]]] = {}
    for sizes in cases:
        for a, b in combinations(sizes, 2):
            pairs.setdefault((a, b), set()).add((sizes[a], sizes[b]))
    return [p for p, seen in pairs.items() if len(seen) > 2 and all(m == n for m, n in seen)]


def valid(case: Case, op: Op) -> bool:
    """Whether the reference accepts the case and gives it results."""
    try:
        outputs = expected.forward(op, ordered(case, op, inputs_of(case, op)), parameters(case, op))
    except Exception:  # whatever the reference objects to, the candidate is no case of this operator
        return False
    return any(y.size for y in outputs)
