"""Where a gradient is defined: finite numbers inside the operator's domain.

At NaN and infinity, and outside of the domain, libraries have conventions of their own, and a case that draws every
value asks for its gradient without them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.cases import Case
from opproof.core.arrays import Array, Closed, tuple_of
from opproof.core.dtypes import DTYPES, round_to
from opproof.core.verdicts import Mode
from opproof.harness.truth.data import parameters
from opproof.harness.truth.quiet import quiet
from opproof.reference_ops import Op, gradients_of

#: Sizes of cotangents, none of which that is drawn is larger than the last.
SIZES = 2.0 ** (np.arange(9) / 4)


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
    elif isinstance(constraint, Closed):
        low, high = constraint.within
        with np.errstate(invalid="ignore"):
            inside &= (x >= low) & (x <= high)
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


def where_computable(case: Case, op: Op, mode: Mode, values: dict[str, Array]) -> dict[str, Array]:
    """`values` of an operator of one tensor, those replaced at which its formula overflows on its way.

    The textbook's formula, in the precision in which honest arithmetic computes: 2 x g overflows where g is small and
    the product is not too large. Nobody is asked for a way round that at the last numbers of a dtype.
    """
    (name, x), *others = values.items()
    if others or x.dtype.kind != "f":
        return values
    params = parameters(case, op)
    with quiet():
        exact, computed = (_result(op, mode, x.astype(t), params) for t in (np.float64, _computes(case)))
        overflown = ~np.isfinite(computed)
        if mode is Mode.FORWARD:  # a gradient's cotangent may be small, the result finite where this one is not
            overflown &= np.isfinite(round_to(exact, DTYPES[case.dtype]))
        else:  # so may the output that a backward has saved
            overflown |= ~np.isfinite(round_to(_result(op, Mode.FORWARD, x, params), DTYPES[case.dtype]))
            overflown |= _overflows_on_the_way(case, op, x, params)
    return {name: _replaced(x, ~overflown)} if overflown.shape == x.shape else values


def _overflows_on_the_way(case: Case, op: Op, x: Array, params: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Where some cotangent makes a product overflow whose gradient would fit: 2ˣ g log 2 does where 2ˣ g may not."""
    found = np.zeros(x.shape, dtype=bool)
    exact, computed = (_gradients(op, x.astype(t), params, SIZES) for t in (np.float64, _computes(case)))
    for d, rounded in zip(exact, computed, strict=True):
        if d.shape == x.shape:
            found |= np.isfinite(round_to(d, DTYPES[case.dtype])) & ~np.isfinite(rounded)
    return found


def _computes(case: Case) -> type[np.floating[Any]]:
    return np.float64 if case.dtype == "f64" else np.float32


def _result(op: Op, mode: Mode, x: Array, params: Mapping[str, Any]) -> Array:
    """The output, or the gradient of x for a cotangent of ones."""
    if mode is Mode.FORWARD or op.vjp is None:
        return np.asarray(tuple_of(op.forward(x, **params))[0])
    return next(_gradients(op, x, params, (1.0,)))


def _gradients(op: Op, x: Array, params: Mapping[str, Any], sizes: Iterable[float]) -> Iterator[Array]:
    """The gradient of x for cotangents that all are of one size, of each in turn; the output where there is none."""
    outputs = tuple_of(op.forward(x, **params))
    for size in sizes:
        given = [np.full_like(outputs[0], size)]
        yield np.asarray(outputs[0] if op.vjp is None else gradients_of(op, given, outputs, [x], params)[0])
