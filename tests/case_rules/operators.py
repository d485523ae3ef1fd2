"""Which operators a rule of cases applies to, by their signatures and by the facts in their files."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

from case_rules.predicates import INDICES
from opproof.cases import Case, cases_of
from opproof.core.arrays import Closed, Whole
from opproof.reference_ops import Op, Trait

Applies = Callable[[Op], bool]


def has_trait(*traits: Trait) -> Applies:
    """Operators that have one of the traits."""
    return lambda op: not op.traits.isdisjoint(traits)


def has_params(*params: str) -> Applies:
    """Operators that have all of the parameters."""
    return lambda op: set(params) <= set(op.params)


def any_of(*conditions: Applies) -> Applies:
    """Operators that meet one of the conditions."""
    return lambda op: any(condition(op) for condition in conditions)


def all_of(*conditions: Applies) -> Applies:
    """Operators that meet all of the conditions."""
    return lambda op: all(condition(op) for condition in conditions)


def tensors(op: Op) -> bool:
    """Whether it takes tensors at all."""
    return bool(op.tensors)


def has_several_tensors(op: Op) -> bool:
    """Whether it takes two tensors or more."""
    return len(op.tensors) > 1 or op.variadic


def has_operand_pair(op: Op) -> bool:
    """Whether its tensors are operands that could be one and the same."""
    return op.variadic or op.tensors in {("a", "b"), ("x", "gate")}


def is_unary(op: Op) -> bool:
    """Whether it maps the elements of one tensor."""
    return Trait.POINTWISE in op.traits and len(op.tensors) == 1


def is_differentiable(op: Op) -> bool:
    """Whether it has a gradient."""
    return op.vjp is not None


def in_place(op: Op) -> bool:
    """Whether its result may lie in the memory of a tensor."""
    return bool(op.in_place)


def by_rows(op: Op) -> bool:
    """Whether it makes something of a whole row, or window, of floats: a sum, an order, a share."""
    whole = has_trait(Trait.ROWWISE, Trait.POOLS, Trait.ORDERED)(op) and Trait.POINTWISE not in op.traits
    return (whole or "is_causal" in op.params) and floats(op)


def is_float_map(op: Op) -> bool:
    """Whether it maps the elements of one tensor of floats."""
    return is_unary(op) and floats(op)


def tables(op: Op) -> bool:
    """Whether it reads or writes rows of a table by their numbers."""
    return Trait.INDEXED in op.traits and len(op.tensors) > 1 and not INDICES.isdisjoint(op.tensors)


def has_quantised_bytes(op: Op) -> bool:
    """Whether some tensor is of bytes, the blocks of a quantised type."""
    case = cases_of(op.name)[0]
    return any(map(callable, op.domain(case.shapes, **case.kwargs).values())) if op.domain else False


def has_weights(op: Op) -> bool:
    """Whether it has weights that many rows share."""
    return any(name.startswith("weight") for name in op.tensors)


def encodes(op: Op) -> bool:
    """Whether it makes blocks of a quantised type of floats."""
    return "type" in op.params and op.is_exact("forward") and floats(op) and Trait.ROUNDING not in op.traits


def can_pad(op: Op) -> bool:
    """Whether it pads, for windows or for itself; not what is left out at an index, nor what is read beyond edges."""
    return any(name.startswith("pad") for name in op.params if name not in ("padding_idx", "padding_mode"))


def has_keep_mask(op: Op) -> bool:
    """Whether it takes a mask that says which elements to keep."""
    return "keep" in op.tensors


def has_row_mean(op: Op) -> bool:
    """Whether it takes a mean or a spread of a row as it stands."""
    return Trait.STATISTIC in op.traits and Trait.SHARES not in op.traits


def has_mean(op: Op) -> bool:
    """Whether it takes a mean of rows or windows."""
    return has_row_mean(op) or (Trait.POOLS in op.traits and Trait.ORDERED not in op.traits)


def is_formula_of_one(op: Op) -> bool:
    """Whether it is a formula in one number."""
    return is_unary(op) and op.tensors == ("x",) and not op.is_exact("forward")


def has_formula_edge(op: Op) -> bool:
    """Whether it goes from one formula to another where its gradient has a kink."""
    return op.kinks is not None and Trait.POINTWISE in op.traits


def find_closed_domains(op: Op) -> list[str]:
    """Tensors whose domain has its ends, in some case."""
    if op.domain is None:
        return []
    return sorted({name for case in cases_of(op.name, "standard") for name in find_domain_ends(case, op)})


def find_domain_ends(case: Case, op: Op) -> list[str]:
    """Tensors of the case whose domain has its ends."""
    drawn = _domain_of(case, op)
    return [name for name in case.shapes if isinstance(drawn.get(name), Closed)]


def _domain_of(case: Case, op: Op) -> Mapping[str, Any]:
    return op.domain(case.shapes, **{**op.params, **case.kwargs}) if op.domain else {}


def find_truth_masks(op: Op) -> list[str]:
    """Masks of integers that are asked whether they are 0, and come back in no result."""
    if op.domain is None:
        return []
    domains = [_domain_of(case, op) for case in cases_of(op.name, "standard")]
    others = {name for found in domains for name, drawn in found.items() if drawn != range(2)}  # such as places
    return sorted({name for found in domains for name in found} - others - {*op.outputs})


def has_comparison(op: Op) -> bool:
    """Whether it compares two tensors, or takes one from the other."""
    of_two = op.tensors == ("a", "b") and Trait.BROADCASTS in op.traits and not op.multilinear
    logical = Trait.JUMPS_AT_ZERO in op.traits and op.vjp is None
    return (of_two and not logical) or op.tensors == ("x", "target")


def as_in_models(op: Op) -> bool:
    """Whether it takes a parameter that is far from 1 in models."""
    return bool(list_model_params(op))


def list_model_params(op: Op) -> list[str]:
    """Parameters, and positions, that are very large or very small in models."""
    return [name for name in ("freq_base", "max_bias", "max_period") if name in op.params] + (
        ["eps"] if has_row_mean(op) and "eps" in op.params else []
    )


def can_hide(op: Op) -> bool:
    """Whether it leaves out elements of some tensor by a mask, a triangle, an ignored class."""
    return op.hidden is not None


def floats(op: Op) -> bool:
    """Whether some tensor is of floats, as its first case draws them."""
    case = cases_of(op.name)[0]
    drawn = op.domain(case.shapes, **case.kwargs) if op.domain else {}
    return any(not isinstance(drawn.get(name), range | Whole) and not callable(drawn.get(name)) for name in case.shapes)


def has_several_gradients(op: Op) -> bool:
    """Whether two tensors or more may have a gradient: as its vjp says that it returns, or where it does not say."""
    if op.vjp is None or not has_several_tensors(op):
        return False
    returned = typing.get_type_hints(op.vjp).get("return")
    if returned is None:
        return True
    choices = typing.get_args(returned) if isinstance(returned, types.UnionType) else (returned,)
    return any(typing.get_origin(c) is tuple and sum(a is not None for a in typing.get_args(c)) > 1 for c in choices)


def is_multilinear(op: Op) -> bool:
    """Whether integers in give integers out, by sums that others may round."""
    return op.multilinear and not op.is_exact("forward") and floats(op)


def has_kinks(op: Op) -> bool:
    """Whether its gradient has kinks."""
    return op.kinks is not None and op.vjp is not None
