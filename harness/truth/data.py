"""The values of a case: drawn from its id, kept away from kinks where the fill does not sit on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.cases import Case
from opproof.cases._data import bits_of, draw, draw_cotangent, draw_tensor
from opproof.cases._fills import HIDDEN, is_on_kinks
from opproof.cases._layouts import LAYOUTS, cotangent_layout, layouts_of
from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, FLOATS, round_to
from opproof.harness.truth.fitted import fitted
from opproof.reference_ops import Op

#: The fill whose cotangents have zeros too.
ZEROS = "zeros"
#: Ordinary fills keep kinks at least this far away, relative to max(1, |x|): far above any rounding.
MARGIN = 2.0**-4
TRIES = 12


def arguments(case: Case, op: Op) -> list[str | None]:
    """Names of the op's tensors in the order of its signature; None where an optional one is absent."""
    if op.variadic:
        return [name for name, _ in case.tensors]
    return [name if name in case.shapes else None for name in op.tensors]


def parameters(case: Case, op: Op) -> dict[str, Any]:
    """Every parameter of the op by name, defaults filled in."""
    return {**op.params, **case.kwargs}


def inputs_of(case: Case, op: Op, variant: int = 0) -> dict[str, Array]:
    """Values of every tensor by name: float64 rounded to its dtype, or int64.

    Whole numbers of the case's dtype are float64 too; their results fit it. Floats keep MARGIN from kinks unless the
    fill sits on them, which "kink" always does; a broadcast layout repeats its first slice. `variant` draws other data
    for the same case.
    """
    constraints = dict(op.domain(case.shapes, **case.kwargs)) if op.domain else {}
    values = draw(case, constraints, variant)
    repeat_slices(case, values)
    if DTYPES[case.dtype].whole:
        return fitted(case, op, values, arguments(case, op), parameters(case, op), constraints, variant)
    if op.hidden is not None and case.fill in HIDDEN:
        values = _hiding(case, op, values, variant)
    if op.kinks is not None and case.fill in ("kink", "edges"):
        values = _onto_kinks(case, op, values)
        return values if case.fill == "kink" else _beside_kinks(case, op, values)
    if op.kinks is None or is_on_kinks(case.fill) or case.dtype not in FLOATS:
        return values
    first = case.tensors[0][0]
    for attempt in range(TRIES):
        near = near_kinks(case, op, values, np.max(np.abs(values[first]), initial=0.0))
        if not near.any():
            break
        fresh = draw_tensor(case, first, case.shapes[first], constraints.get(first), again(variant, attempt))
        moved = np.where(near, fresh, values[first])
        values = {name: moved if v is values[first] else v for name, v in values.items()}
        repeat_slices(case, values)
    return values


def _onto_kinks(case: Case, op: Op, values: dict[str, Array]) -> dict[str, Array]:
    """`values` where some sit on kinks already, else with some of the first tensor, or its nearest, moved onto one."""
    first, distance = values[case.tensors[0][0]], distances(case, op, values)
    enough = 6 if case.fill == "edges" else first.size  # one in six, or one
    if not np.isfinite(distance).any() or (distance == 0).sum() * enough >= max(first.size, 1):
        return values
    order = np.arange(first.size).reshape(first.shape)
    for chosen in (order % 3 == 0, order == np.argmin(distance)):
        for sign in (-1, 1):
            moved = np.where(chosen & np.isfinite(distance), first + sign * distance, first)
            stored = np.array(round_to(moved, DTYPES[case.dtype])).reshape(first.shape)
            tried = {name: stored if v is first else v for name, v in values.items()}
            repeat_slices(case, tried)
            if (distances(case, op, tried) == 0).any():
                return tried
    return values


#: How far from a kink, relative to it: less than an input rounded to f16, or to bf16, is off, which is then on it.
_NEARBY = (2.0**-13, 2.0**-10)


def _beside_kinks(case: Case, op: Op, values: dict[str, Array]) -> dict[str, Array]:
    """`values`, of those on kinks a third moved up, a third down: to the next number, or as far as `_NEARBY` says."""
    first, dtype = values[case.tensors[0][0]], DTYPES[case.dtype]
    on = distances(case, op, values) == 0
    order = np.arange(first.size).reshape(first.shape)
    sizes = 2.0 ** np.floor(np.log2(np.maximum(np.abs(first), dtype.tiny)))
    step = np.where(first == 0, dtype.tiny, 2 * dtype.u * sizes)  # below it numbers may be taken for 0
    lengths = np.choose(order // 9 % 4, [step, step, *(n * np.abs(first) for n in _NEARBY)])
    moved = round_to(first + np.where(on, order // 3 % 3 - 1.0, 0) * lengths, dtype)
    values = {name: moved if v is first else v for name, v in values.items()}
    repeat_slices(case, values)
    return values


def _hiding(case: Case, op: Op, values: dict[str, Array], variant: int) -> dict[str, Array]:
    """`values` with what the fill says in place of the elements that a mask hides."""
    assert op.hidden is not None
    masks = zip(arguments(case, op), op.hidden(*ordered(case, op, values), **parameters(case, op)), strict=True)
    hidden = {name: mask for name, mask in masks if name is not None and mask is not None}
    for name, mask in hidden.items():
        dtype = DTYPES[case.dtype_of(name)]
        drawn = HIDDEN[case.fill](bits_of(f"{case}|hidden {name}|variant={variant}"), case.shapes[name], dtype)
        values = {**values, name: np.where(mask, round_to(drawn, dtype), values[name])}
    return values


def again(variant: int, attempt: int) -> str:
    """What the data are drawn by that take the place of those near a kink."""
    return f"{variant}, again {attempt}"


def near_kinks(case: Case, op: Op, values: dict[str, Array], largest: float) -> NDArray[np.bool_]:
    """Which elements of the first tensor are too near a kink; `largest` is the size of its largest, of all of it."""
    distance = distances(case, op, values)
    first = values[case.tensors[0][0]]
    margin = MARGIN * np.minimum(1, largest) * np.maximum(1, np.abs(first) * 2.0**-4)
    return np.broadcast_to(distance < margin, first.shape)


def distances(case: Case, op: Op, values: dict[str, Array]) -> Array:
    """Distance of every element of the first tensor to the nearest kink; inf where there is none."""
    first = values[case.tensors[0][0]]
    if op.kinks is None:
        return np.full(first.shape, np.inf)
    with np.errstate(all="ignore"):
        distance = np.asarray(op.kinks(*ordered(case, op, values), **parameters(case, op)), dtype=np.float64)
    return np.broadcast_to(np.where(np.isnan(distance), np.inf, distance), first.shape)


def ordered(case: Case, op: Op, values: dict[str, Array]) -> list[Array | None]:
    """Values as positional arguments."""
    return [None if name is None else values[name] for name in arguments(case, op)]


def differentiable(case: Case, op: Op, values: Sequence[Array | None]) -> list[bool]:
    """Which arguments have a gradient that the case asks for: floats of 16 bits or more, in `needs` where given."""
    names = arguments(case, op)
    return [
        v is not None
        and v.dtype.kind == "f"
        and case.dtype_of(name) in FLOATS
        and (case.needs is None or name in case.needs)
        for name, v in zip(names, values, strict=True)
    ]


def cotangents_of(case: Case, outputs: Sequence[Array], variant: int = 0) -> list[Array | None]:
    """A random cotangent in the shape of each of `outputs`, rounded to the case's dtype; None for one not of floats.

    A broadcast layout repeats its first slice: that of a sum along the first axis has a stride of 0 there. Beside zeros
    among the inputs every third row, or element of a vector, is 0: of a loss that leaves rows out, most are.
    """
    drawn = [
        _uneven(draw_cotangent(case, f"g{i}", y.shape, variant)) if y.dtype.kind == "f" else None
        for i, y in enumerate(outputs)
    ]
    if case.fill == ZEROS:
        drawn = [g if g is None else _with_rows_of_zeros(g) for g in drawn]
    if cotangent_layout(case) == "broadcast":
        for g in drawn:
            if g is not None and g.ndim:
                g[...] = g[:1]
    return drawn


def _with_rows_of_zeros(g: Array) -> Array:
    """`g` with 0 in every third row from the second on; of one axis these are elements."""
    rows = g.reshape(-1, g.shape[-1] if g.ndim > 1 else 1) if g.size else g
    rows[1::3] = 0.0
    return rows.reshape(g.shape)


def _uneven(g: Array) -> Array:
    """`g`; where whole numbers drawn for a few elements came out alike, 0 or 1, the first becomes another."""
    if g.size and (g == g.flat[0]).all() and (g.size > 1 or g.flat[0] in (0, 1)):
        g.flat[0] = 2 if g.flat[0] == -2 else -2
    return g


def repeat_slices(case: Case, values: dict[str, Array]) -> None:
    """Write the first slice over all others of every tensor that a layout broadcasts."""
    if case.layout != "broadcast" and case.layout in LAYOUTS:
        return
    for name, layout in layouts_of(case).items():
        if layout == "broadcast" and values[name].ndim and values[name].shape[0] > 1:
            values[name][...] = values[name][:1]


def to_dtype(values: Array, dtype: str) -> Array:
    """float64 values, already rounded, in the case's own NumPy dtype; integers and bools as they are."""
    return values.astype(DTYPES[dtype].numpy) if values.dtype.kind == "f" else values
