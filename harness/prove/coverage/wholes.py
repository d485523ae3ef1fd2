"""Rules of what meets and what adds up: special numbers in pairs, long wholes, texts with long rows, late places."""

from __future__ import annotations

import math
from collections.abc import Sequence

from opproof.cases import Case
from opproof.cases._uneven import SPECIAL_PAIRS, SPECIALS
from opproof.harness.prove.coverage import ops as on
from opproof.harness.prove.coverage.case import Rule, when
from opproof.harness.prove.coverage.reach import first, pointwise_pair, reduces
from opproof.reference_ops import Op, Trait

#: Terms that 256 blocks of 256 add up, and places that 16 bits count.
_STAGES = _PLACES = 2**16
#: Terms past which 16 bits count no further.
_LONG = 1024


def _whole(case: Case) -> bool:
    """More terms of several axes than the blocks of a first stage have room for."""
    shape = first(case)
    return "dim" in case.kwargs and case.kwargs["dim"] is None and len(shape) > 1 and math.prod(shape) > _STAGES


def _of_all(op: Op) -> bool:
    """Whether it makes one number of all, by sums or an order: no product, no truth value."""
    counts = not op.traits.isdisjoint((Trait.STATISTIC, Trait.ORDERED, Trait.LONG_SUM))
    return reduces(op) and op.params["dim"] is None and counts


def _late(case: Case) -> bool:
    """Three rows or more, of which two thirds lie past what 16 bits count."""
    shape = first(case)
    return math.prod(shape[:-1]) >= 3 and case.kwargs.get("dim") == -1 and shape[-1] >= 3 * _PLACES


def _finds(op: Op) -> bool:
    """Whether it says where in a row one of its elements stands."""
    return reduces(op) and Trait.ORDERED in op.traits and op.vjp is None


def _ways(op: Op) -> list[str]:
    """Parameters that turn an order round."""
    return [n for n, default in op.params.items() if isinstance(default, bool) and n != "keepdim"]


def _turned(case: Case, op: Op) -> list[str]:
    rows = case.fill in ("special-rows", "special-columns")
    return [f"{n}={case.kwargs.get(n, op.params[n])}" for n in _ways(op)] if rows else []


def _modes(case: Case, op: Op) -> list[str]:
    """What texts say of a case with over 1024 elements, by dtype."""
    chosen = {name: case.kwargs.get(name, op.params[name]) for name in _texts(op)}
    return [f"{name}={value} {case.dtype}" for name, value in chosen.items() if math.prod(first(case)) > _LONG]


def _mode_parts(op: Op, cases: Sequence[Case]) -> set[str]:
    """Every text that some case has, in f32 and bf16: f16 holds no gradient of a mean of so many."""
    met = {(n, case.kwargs.get(n, op.params[n])) for case in cases for n in _texts(op)}
    return {f"{name}={value} {dtype}" for name, value in met for dtype in ("f32", "bf16")}


def _texts(op: Op) -> list[str]:
    return [name for name, default in op.params.items() if isinstance(default, str)]


WHOLES = (
    Rule(
        *("special pairs", f"each of {len(SPECIALS)} numbers, special and ordinary ones, meets each, in each dtype", 0),
        on.every(pointwise_pair, on.floats, lambda op: op.tensors == ("a", "b")),
        lambda case, _: [case.dtype] if case.fill == SPECIAL_PAIRS else [],
        lambda op, cases: ("f32", "f16", "bf16"),  # noqa: ARG005
    ),
    Rule(
        *("special rows, turned", "rows of special numbers in either order", 0),
        lambda op: Trait.ORDERED in op.traits and "dim" in op.params and bool(_ways(op)),
        _turned,
        lambda op, cases: [f"{n}={way}" for n in _ways(op) for way in (False, True)],  # noqa: ARG005
    ),
    Rule("of all", "one result of several axes of over 65,536 terms", 0, _of_all, when(_whole)),
    Rule(
        *("modes, long", "every text that a parameter may be with over 1024 elements, in f32 and bf16", 0),
        lambda op: {Trait.LONG_SUM, Trait.ROWWISE} <= op.traits,
        _modes,
        _mode_parts,
    ),
    Rule("late places", "places past 65,535, where what is looked for stands", 0, _finds, when(_late)),
)
