"""Where a gradient is defined: finite numbers inside the operator's domain.

At NaN and infinity, and outside of the domain, libraries have conventions of their own, and a case that draws every
value asks for its gradient without them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.cases import Case
from opproof.reference_ops import Op
from opproof.vocabulary.arrays import Array


def where_defined(case: Case, op: Op, values: dict[str, Array]) -> dict[str, Array]:
    """`values`, of every tensor of floats those where a gradient is not defined replaced by those where it is.

    The replacements are taken in turn from the tensor's own others.
    """
    constraints = dict(op.domain(case.shapes, **case.kwargs)) if op.domain else {}
    replaced: dict[int, Array] = {}
    for name, x in values.items():
        if x.dtype.kind == "f" and id(x) not in replaced:
            replaced[id(x)] = _replaced(x, _inside(x, constraints.get(name)))
    return {name: replaced.get(id(x), x) for name, x in values.items()}


def _inside(x: Array, constraint: Any) -> NDArray[np.bool_]:
    inside: NDArray[np.bool_] = np.isfinite(x)
    if constraint == "nonzero":
        inside &= x != 0
    elif isinstance(constraint, tuple):
        low, high = constraint
        with np.errstate(invalid="ignore"):
            inside &= (x > low) & (x < high)
    return inside


def _replaced(x: Array, inside: NDArray[np.bool_]) -> Array:
    if inside.all() or not inside.any():
        return x
    taken = x.copy()
    taken[~inside] = np.resize(x[inside], x.size - int(np.count_nonzero(inside)))
    return taken
