"""The values of a case: drawn from its id, kept off kinks, inside the domain, and small enough that integers fit.

What overflows is undefined in C: numbers become smaller until no result, nor what arithmetic passes through on its way
(`Op.partials`), is beyond an integer dtype. A case that draws every value asks for gradients where one is defined:
libraries have conventions of their own at NaN, at infinity and outside of the domain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.cases import Case
from opproof.cases._fills.fills import HIDDEN, is_on_kinks
from opproof.cases._fills.integers import confine
from opproof.cases._fills.random_bits import bits_of
from opproof.cases._fills.stored import is_stored
from opproof.cases._fills.tensors import draw, draw_cotangent, draw_tensor
from opproof.cases._layouts import LAYOUTS, cotangent_layout, layouts_of
from opproof.core.arrays import Array, Closed
from opproof.core.dtypes import DTYPES, FLOATS, round_to
from opproof.core.errors import CaseError
from opproof.core.tuples import tuple_of
from opproof.core.verdicts import Mode
from opproof.harness.reference.axes import find_periods
from opproof.harness.reference.roundoff import ignore_fp_warnings
from opproof.reference_ops import Op, Trait, gradients_of
from opproof.reference_ops._index import Distinct

#: The fill whose cotangents have zeros too.
ZEROS_FILL = "zeros"
#: Ordinary fills keep kinks at least this far away, relative to max(1, |x|): far above any rounding.
MIN_KINK_DISTANCE = 2.0**-4
MAX_REDRAWS = 12


def list_arguments(case: Case, op: Op) -> list[str | None]:
    """Names of the op's tensors in the order of its signature; None where an optional one is absent."""
    if op.variadic:
        return [name for name, _ in case.tensors]
    return [name if name in case.shapes else None for name in op.tensors]


def fill_parameters(case: Case, op: Op) -> dict[str, Any]:
    """Every parameter of the op by name, defaults filled in."""
    return {**op.params, **case.kwargs}


def inputs_of(case: Case, op: Op, variant: int = 0) -> dict[str, Array]:
    """Values of every tensor by name: float64 rounded to its dtype, or int64.

    Integers of the case's dtype are float64 too; their results fit it. Floats keep MIN_KINK_DISTANCE from kinks
    unless the fill sits on them, which "kink" always does; a broadcast layout repeats its first slice, and a large case
    a period (axes.py). `variant` draws other data for the same case. Raises ValueError where places that are to be
    distinct are not.
    """
    periods = find_periods(case, op)
    if periods is not None:
        few, shapes = inputs_of(periods.case, op, variant), case.shapes
        return {name: periods.tile(v, name, shapes[name]) for name, v in few.items()}
    constraints = dict(op.domain(case.shapes, **case.kwargs)) if op.domain else {}
    values = draw(case, constraints, variant)
    repeat_slices(case, values)
    if not is_stored(case.fill):
        for name in values.keys() & constraints.keys():
            if isinstance(constraint := constraints[name], Distinct):
                constraint.check(name, values[name])
    if DTYPES[case.dtype].whole:
        return reduce_to_dtype_range(
            case, op, values, list_arguments(case, op), fill_parameters(case, op), constraints, variant
        )
    if op.hidden is not None and case.fill in HIDDEN:
        values = _fill_hidden(case, op, values, variant)
    if op.kinks is not None and case.fill in ("kink", "edges"):
        values = _move_onto_kinks(case, op, values)
        return values if case.fill == "kink" else _move_beside_kinks(case, op, values)
    if not is_kept_off_kinks(case, op) or case.dtype not in FLOATS:
        return values
    first = case.tensors[0][0]
    for attempt in range(MAX_REDRAWS):
        near = find_near_kinks(case, op, values, np.max(np.abs(values[first]), initial=0.0))
        if not near.any():
            break
        fresh = draw_tensor(case, first, case.shapes[first], constraints.get(first), f"{variant}, again {attempt}")
        moved = np.where(near, fresh, values[first])
        values = {name: moved if v is values[first] else v for name, v in values.items()}
        repeat_slices(case, values)
    return values


def is_kept_off_kinks(case: Case, op: Op) -> bool:
    """Whether elements near a kink are drawn again: those of a statistic, which is rounded, with any fill.

    A fill that may sit on kinks keeps those that are exactly on one.
    """
    return op.kinks is not None and (not is_on_kinks(case.fill) or Trait.STATISTIC in op.traits)


def _move_onto_kinks(case: Case, op: Op, values: dict[str, Array]) -> dict[str, Array]:
    """`values` where some sit on kinks already, else with some of the first tensor, or its nearest, moved onto one."""
    first, distance = values[case.tensors[0][0]], measure_kink_distances(case, op, values)
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
            if (measure_kink_distances(case, op, tried) == 0).any():
                return tried
    return values


#: How near a kink what may be on one is drawn again, in unit roundoffs: an element may be far less than its length.
_BESIDE_ROUNDOFFS = 64
#: How far from a kink, relative to it: less than an input rounded to f16, or to bf16, is off, which is then on it.
_BESIDE_KINK_STEPS = (2.0**-13, 2.0**-10)


def _move_beside_kinks(case: Case, op: Op, values: dict[str, Array]) -> dict[str, Array]:
    """`values`, of those on kinks a third moved up, a third down: to the next number, or as far as
    `_BESIDE_KINK_STEPS` says.
    """
    first, dtype = values[case.tensors[0][0]], DTYPES[case.dtype]
    on = measure_kink_distances(case, op, values) == 0
    order = np.arange(first.size).reshape(first.shape)
    sizes = 2.0 ** np.floor(np.log2(np.maximum(np.abs(first), dtype.tiny)))
    step = np.where(first == 0, dtype.tiny, 2 * dtype.u * sizes)  # below it numbers may be taken for 0
    lengths = np.choose(order // 9 % 4, [step, step, *(n * np.abs(first) for n in _BESIDE_KINK_STEPS)])
    moved = round_to(first + np.where(on, order // 3 % 3 - 1.0, 0) * lengths, dtype)
    values = {name: moved if v is first else v for name, v in values.items()}
    repeat_slices(case, values)
    return values


def _fill_hidden(case: Case, op: Op, values: dict[str, Array], variant: int) -> dict[str, Array]:
    """`values` with what the fill says in place of the elements that a mask hides."""
    assert op.hidden is not None
    masks = zip(
        list_arguments(case, op),
        op.hidden(*order_arguments(case, op, values), **fill_parameters(case, op)),
        strict=True,
    )
    layouts = layouts_of(case)
    hidden = {
        name: _hide_whole_columns(mask) if layouts[name] == "broadcast" else mask
        for name, mask in masks
        if name is not None and mask is not None
    }
    for name, mask in hidden.items():
        dtype = DTYPES[case.dtype_of(name)]
        drawn = HIDDEN[case.fill](bits_of(f"{case}|hidden {name}|variant={variant}"), case.shapes[name], dtype)
        values = {**values, name: np.where(mask, round_to(drawn, dtype), values[name])}
    repeat_slices(case, values)
    return values


def _hide_whole_columns(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Where a mask hides an element in all slices of a tensor, which are one in memory."""
    return np.broadcast_to(np.all(mask, axis=0), mask.shape) if mask.ndim else mask


def find_near_kinks(case: Case, op: Op, values: dict[str, Array], largest: float) -> NDArray[np.bool_]:
    """Which elements of the first tensor are too near a kink; `largest` is the size of its largest, of all of it.

    A fill that may sit on kinks has those that are exactly on one, and others a few roundings away.
    """
    distance = measure_kink_distances(case, op, values)
    first = values[case.tensors[0][0]]
    margin = MIN_KINK_DISTANCE * np.minimum(1, largest) * np.maximum(1, np.abs(first) * 2.0**-4)
    if is_on_kinks(case.fill):
        margin = np.minimum(margin, _BESIDE_ROUNDOFFS * DTYPES[case.dtype].u * np.abs(first))
        return np.broadcast_to((distance > 0) & (distance < margin), first.shape)
    return np.broadcast_to(distance < margin, first.shape)


def measure_kink_distances(case: Case, op: Op, values: dict[str, Array]) -> Array:
    """Distance of every element of the first tensor to the nearest kink; inf where there is none."""
    first = values[case.tensors[0][0]]
    if op.kinks is None:
        return np.full(first.shape, np.inf)
    with np.errstate(all="ignore"):
        distance = np.asarray(
            op.kinks(*order_arguments(case, op, values), **fill_parameters(case, op)), dtype=np.float64
        )
    return np.broadcast_to(np.where(np.isnan(distance), np.inf, distance), first.shape)


def order_arguments(case: Case, op: Op, values: dict[str, Array]) -> list[Array | None]:
    return [None if name is None else values[name] for name in list_arguments(case, op)]


def find_differentiable(case: Case, op: Op, values: Sequence[Array | None]) -> list[bool]:
    """Which arguments have a gradient that the case asks for: floats of f16, bf16 or wider, in `needs` where given."""
    names = list_arguments(case, op)
    return [
        v is not None
        and v.dtype.kind == "f"
        and case.dtype_of(name) in FLOATS
        and (case.needs is None or name in case.needs)
        for name, v in zip(names, values, strict=True)
    ]


def cotangents_of(case: Case, outputs: Sequence[Array], variant: int = 0) -> list[Array | None]:
    """A random cotangent in the shape of each of `outputs`, rounded to the case's dtype; None for one not of floats.

    A broadcast layout repeats its first slice: that of a sum along the first axis has a stride of 0 there. One that is
    expanded repeats its first number. Beside zeros
    among the inputs every third row, or element of a vector, is 0: of a loss that leaves rows out, most are.
    """
    drawn = [
        _make_uneven(draw_cotangent(case, f"g{i}", y.shape, variant)) if y.dtype.kind == "f" else None
        for i, y in enumerate(outputs)
    ]
    if case.fill == ZEROS_FILL:
        drawn = [g if g is None else _with_rows_of_zeros(g) for g in drawn]
    if (layout := cotangent_layout(case)) in ("broadcast", "expanded"):
        for g in drawn:
            if g is not None and g.size and g.ndim:
                g[...] = g[:1] if layout == "broadcast" else g.flat[0]
    return drawn


def _with_rows_of_zeros(g: Array) -> Array:
    """`g` with 0 in every third row from the second on; of one axis these are elements."""
    rows = g.reshape(-1, g.shape[-1] if g.ndim > 1 else 1) if g.size else g
    rows[1::3] = 0.0
    return rows.reshape(g.shape)


def _make_uneven(g: Array) -> Array:
    """`g`; where integers drawn for a few elements came out alike, 0 or 1, the first becomes another."""
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


#: Steps until all is zero, where each takes half of the numbers of 32 bits down by half; in the first half, until 1.
_MAX_REDUCTION_STEPS = 400


def reduce_to_dtype_range(
    case: Case, op: Op, values: Mapping[str, Array], names: Sequence[str | None], params: Mapping[str, Any],
    constraints: Mapping[str, Any], variant: int,
) -> dict[str, Array]:  # fmt: skip
    """`values`, smaller where a result is beyond the case's dtype. Raises CaseError where none of any size fits."""
    found = dict(values)
    for step in range(_MAX_REDUCTION_STEPS):
        beyond = list(_find_beyond(op, [None if n is None else found[n] for n in names], params, case.dtype))
        if not beyond:
            return found
        smaller: dict[int, Array] = {}  # a tensor given twice stays one
        for name, v in found.items():
            if v.dtype.kind == "f" and id(v) not in smaller:
                salt = f"{case}|smaller {name} {step}|variant={variant}"
                chosen = _choose_reduced(op, v, beyond, salt, repeated=layouts_of(case)[name] == "broadcast")
                less = _reduce_chosen(v, chosen, at_once=case.fill == "ends", to_zero=2 * step > _MAX_REDUCTION_STEPS)
                smaller[id(v)] = confine(less, constraints.get(name), DTYPES[case.dtype])
        found = {name: smaller.get(id(v), v) for name, v in found.items()}
    raise CaseError(f"{case}: its results fit {case.dtype} for no data; expected fewer terms, or a wider dtype.")


def _find_beyond(
    op: Op, inputs: Sequence[Array | None], params: Mapping[str, Any], dtype: str
) -> Iterator[NDArray[np.bool_]]:
    """Of every result, and of what is passed through, which elements are beyond the dtype, where some are."""
    kind = DTYPES[dtype]
    with np.errstate(all="ignore"):
        passed = () if op.partials is None else op.partials(*inputs, **params)
        for y in map(np.asarray, (*tuple_of(op.forward(*inputs, **params)), *passed)):
            if y.dtype.kind == "f" and (wrong := ~((y >= kind.min) & (y <= kind.max))).any():
                yield wrong


def _choose_reduced(
    op: Op, v: Array, beyond: Sequence[NDArray[np.bool_]], salt: str, *, repeated: bool
) -> NDArray[np.bool_]:
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


def _reduce_chosen(v: Array, chosen: NDArray[np.bool_], *, at_once: bool, to_zero: bool) -> Array:
    """Half of each, towards 0, or 1 of its sign at once; 0 where that is no less and `to_zero`."""
    half = np.sign(v) * (1.0 if at_once else np.maximum(np.trunc(np.abs(v) / 2), 1.0))
    return np.where(chosen, np.where(v == half, 0.0 if to_zero else v, half), v)


#: Sizes of cotangents, none of which that is drawn is larger than the last.
COTANGENT_SIZES = 2.0 ** (np.arange(9) / 4)


def replace_undefined(case: Case, op: Op, values: dict[str, Array]) -> dict[str, Array]:
    """`values`, of every tensor of floats those where a gradient is not defined replaced by those where it is.

    The replacements are taken in turn from the tensor's own others.
    """
    constraints = dict(op.domain(case.shapes, **case.kwargs)) if op.domain else {}
    replaced: dict[int, Array] = {}
    for name, x in values.items():
        if x.dtype.kind == "f" and id(x) not in replaced:
            replaced[id(x)] = _replace_outside(x, _find_inside(x, constraints.get(name)))
    return {name: replaced.get(id(x), x) for name, x in values.items()}


def _find_inside(x: Array, constraint: Any) -> NDArray[np.bool_]:
    inside: NDArray[np.bool_] = np.isfinite(x)
    if constraint in ("nonzero", "regular"):
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


def _replace_outside(x: Array, inside: NDArray[np.bool_]) -> Array:
    if inside.all() or not inside.any():
        return x
    taken = x.copy()
    taken[~inside] = np.resize(x[inside], x.size - int(np.count_nonzero(inside)))
    return taken


def replace_uncomputable(case: Case, op: Op, mode: Mode, values: dict[str, Array]) -> dict[str, Array]:
    """`values` of an operator of one tensor, those replaced at which its formula overflows on its way.

    The textbook's formula, in the precision in which honest arithmetic computes: 2 x g overflows where g is small and
    the product is not too large. Nobody is asked for a way round that at the last numbers of a dtype.
    """
    (name, x), *others = values.items()
    if others or x.dtype.kind != "f":
        return values
    params = fill_parameters(case, op)
    with ignore_fp_warnings():
        exact, computed = (
            _evaluate_result(op, mode, x.astype(t), params) for t in (np.float64, _compute_type_of(case))
        )
        overflown = ~np.isfinite(computed)
        if mode is Mode.FORWARD:  # a gradient's cotangent may be small, the result finite where this one is not
            overflown &= np.isfinite(round_to(exact, DTYPES[case.dtype]))
        else:  # so may the output that a backward has saved
            overflown |= ~np.isfinite(round_to(_evaluate_result(op, Mode.FORWARD, x, params), DTYPES[case.dtype]))
            overflown |= _find_intermediate_overflow(case, op, x, params)
    return {name: _replace_outside(x, ~overflown)} if overflown.shape == x.shape else values


def _find_intermediate_overflow(case: Case, op: Op, x: Array, params: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Where some cotangent makes a product overflow whose gradient would fit: 2ˣ g log 2 does where 2ˣ g may not."""
    found = np.zeros(x.shape, dtype=bool)
    exact, computed = (
        _iter_gradients(op, x.astype(t), params, COTANGENT_SIZES) for t in (np.float64, _compute_type_of(case))
    )
    for d, rounded in zip(exact, computed, strict=True):
        if d.shape == x.shape:
            found |= np.isfinite(round_to(d, DTYPES[case.dtype])) & ~np.isfinite(rounded)
    return found


def _compute_type_of(case: Case) -> type[np.floating[Any]]:
    return np.float64 if case.dtype == "f64" else np.float32


def _evaluate_result(op: Op, mode: Mode, x: Array, params: Mapping[str, Any]) -> Array:
    if mode is Mode.FORWARD or op.vjp is None:
        return np.asarray(tuple_of(op.forward(x, **params))[0])
    return next(_iter_gradients(op, x, params, (1.0,)))


def _iter_gradients(op: Op, x: Array, params: Mapping[str, Any], sizes: Iterable[float]) -> Iterator[Array]:
    """The gradient of x for cotangents that all are of one size, of each in turn; the output where there is none."""
    outputs = tuple_of(op.forward(x, **params))
    for size in sizes:
        given = [np.full_like(outputs[0], size)]
        yield np.asarray(outputs[0] if op.vjp is None else gradients_of(op, given, outputs, [x], params)[0])
