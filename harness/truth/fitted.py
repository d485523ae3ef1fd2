"""Whole numbers whose results fit: what overflows is undefined in C, and no library owes anything there.

Data are drawn over the whole range of a dtype; where a result, or what arithmetic passes through on its way to it
(`Op.partials`), is beyond it, the numbers that it is made of become smaller until it is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.cases import Case
from opproof.cases._data import bits_of
from opproof.cases._layouts import layouts_of
from opproof.cases._whole import confined
from opproof.core.arrays import Array, tuple_of
from opproof.core.dtypes import DTYPES
from opproof.core.errors import CaseError
from opproof.reference_ops import Op, Trait

#: Steps until all is zero, where each takes half of the numbers of 32 bits down by half; in the first half, until 1.
_STEPS = 400


def fitted(
    case: Case, op: Op, values: Mapping[str, Array], names: Sequence[str | None], params: Mapping[str, Any],
    constraints: Mapping[str, Any], variant: int,
) -> dict[str, Array]:  # fmt: skip
    """`values`, smaller where a result is beyond the case's dtype. Raises CaseError where none of any size fits."""
    found = dict(values)
    for step in range(_STEPS):
        beyond = list(_beyond(op, [None if n is None else found[n] for n in names], params, case.dtype))
        if not beyond:
            return found
        smaller: dict[int, Array] = {}  # a tensor given twice stays one
        for name, v in found.items():
            if v.dtype.kind == "f" and id(v) not in smaller:
                salt = f"{case}|smaller {name} {step}|variant={variant}"
                chosen = _chosen(op, v, beyond, salt, repeated=layouts_of(case)[name] == "broadcast")
                less = _less(v, chosen, at_once=case.fill == "ends", to_zero=2 * step > _STEPS)
                smaller[id(v)] = confined(less, constraints.get(name), DTYPES[case.dtype])
        found = {name: smaller.get(id(v), v) for name, v in found.items()}
    raise CaseError(f"{case}: its results fit {case.dtype} for no data; expected fewer terms, or a wider dtype.")


def _beyond(
    op: Op, inputs: Sequence[Array | None], params: Mapping[str, Any], dtype: str
) -> Iterator[NDArray[np.bool_]]:
    """Of every result, and of what is passed through, which elements are beyond the dtype, where some are."""
    kind = DTYPES[dtype]
    with np.errstate(all="ignore"):
        passed = () if op.partials is None else op.partials(*inputs, **params)
        for y in map(np.asarray, (*tuple_of(op.forward(*inputs, **params)), *passed)):
            if y.dtype.kind == "f" and (wrong := ~((y >= kind.min) & (y <= kind.max))).any():
                yield wrong


def _chosen(op: Op, v: Array, beyond: Sequence[NDArray[np.bool_]], salt: str, *, repeated: bool) -> NDArray[np.bool_]:
    """Which elements of `v` become smaller: those in the places, or the rows, of `beyond`; else about half of all."""
    chosen = np.zeros(v.shape, dtype=bool)
    for wrong in beyond:
        places = None if op.traits.isdisjoint((Trait.POINTWISE, Trait.ROWWISE)) else _in_shape(wrong, v.shape)
        if places is None:
            places = (bits_of(salt)(v.size) >> np.uint64(11)).reshape(v.shape) % np.uint64(2) == 0
        chosen |= places
    return np.broadcast_to(chosen.any(0), v.shape) if repeated and v.ndim else chosen


def _in_shape(wrong: NDArray[np.bool_], shape: tuple[int, ...]) -> NDArray[np.bool_] | None:
    """`wrong` in the shape of a tensor that broadcasts against it; None where none does."""
    try:
        whole = np.broadcast_shapes(wrong.shape, shape)
    except ValueError:
        return None
    inner = np.any(np.broadcast_to(wrong, whole), axis=tuple(range(len(whole) - len(shape))))
    summed = tuple(i for i, n in enumerate(shape) if n == 1)
    return np.broadcast_to(np.any(inner, axis=summed, keepdims=True), shape)


def _less(v: Array, chosen: NDArray[np.bool_], *, at_once: bool, to_zero: bool) -> Array:
    """Half of each, towards 0, or 1 of its sign at once; 0 where that is no less and `to_zero`."""
    half = np.sign(v) * (1.0 if at_once else np.maximum(np.trunc(np.abs(v) / 2), 1.0))
    return np.where(chosen, np.where(v == half, 0.0 if to_zero else v, half), v)
