"""The references prove each other, in float64, at every parameter set of the registry.

    values     NumPy's forward against the PyTorch twin's, in integers too, bit for bit
    autograd   the vjp against PyTorch's autograd (at kinks too: our conventions are PyTorch's)
    finite     the vjp against central differences of the forward, Richardson-extrapolated
    complex    the vjp against the complex step, where the operator is analytic
    slices     values and gradients against those of slices that are declared independent, joined

Cotangents and directions are random, a handful of each, never ones.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.cases import Case
from opproof.cases._fills.by_tensor import OPPOSED
from opproof.cases._fills.fills import NOT_FINITE, ON_KINKS
from opproof.cases._fills.random_bits import bits_of
from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.core.tuples import tuple_of
from opproof.core.verdicts import Mode
from opproof.harness.judge import alternatives
from opproof.harness.judge.alternatives import explain_unfair_draw, insert_draw
from opproof.harness.judge.bound import compare
from opproof.harness.reference import expected as reference
from opproof.harness.reference.axes import axes_of
from opproof.harness.reference.chunks.blocks import make_whole_block, results_of
from opproof.harness.reference.chunks.expected import evaluate_in_block
from opproof.harness.reference.chunks.memory_budget import ChunkPlan
from opproof.harness.reference.chunks.question import make_templates
from opproof.harness.reference.data import (
    cotangents_of,
    inputs_of,
    list_arguments,
    measure_kink_distances,
    order_arguments,
    to_dtype,
)
from opproof.harness.reference.expected import values_of
from opproof.harness.reference.question import Expected, Question, evaluate_forward, evaluate_vjp, needs_of
from opproof.harness.reference.roundoff import ignore_fp_warnings
from opproof.reference_ops import Op
from opproof.reference_ops._torch import autograd

#: Fills mild enough for differences: the operator's curvature is seen, not its overflow.
_MILD = frozenset(
    {"normal", "positive", "negative", "offset", "zeros", "kink", "ties", "exact", "signs", "constant", "singular"}
)
_DIRECTIONS = 3
_ABSOLUTE = 1e-12  # relative to the largest element: other formulas cancel elsewhere
#: So many times that of scores about as large: PyTorch's backward makes shares anew, exp(score - logsumexp).
_OPPOSED = 2.0**18
_SPACING = 2.0**-20  # of numbers about a kink, to those who compare in float32
_LARGEST = 5000  # elements: larger cases prove nothing more


@dataclass(frozen=True)
class Disagreement:
    """Two references differ."""

    case: str
    check: str  # values, autograd, finite, complex or slices
    message: str


def cases_to_check(cases: Sequence[Case]) -> list[Case]:
    """Each shape, parameter set and fill once, in float64 and contiguous; integers in their own dtypes."""
    plain = dict.fromkeys(
        replace(c.apart.uniform, dtype=c.dtype if DTYPES[c.dtype].whole else "f64", layout="contiguous") for c in cases
    )
    return [c for c in plain if sum(int(np.prod(s)) for s in c.shapes.values()) <= _LARGEST]


def check(case: Case, op: Op, torch: Any) -> list[Disagreement]:
    """Everything that two references of `op` disagree about in `case`; one that raises disagrees."""
    disagreements: list[Disagreement] = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch warns of empty variances and the like
            disagreements.extend(_run_checks(case, op, torch))
    except Exception as error:  # whatever a reference raises is what the check is there to find
        line = str(error).strip().split("\n", 1)[0]
        disagreements.append(Disagreement(str(case), "raises", f"{type(error).__name__}: {line}"))
    return disagreements


def _run_checks(case: Case, op: Op, torch: Any) -> Iterator[Disagreement]:
    inputs = tuple(order_arguments(case, op, inputs_of(case, op)))
    names = tuple(list_arguments(case, op))
    posed = Question(case, op, Mode.FORWARD, names, inputs, (), tuple(False for _ in inputs))
    outputs = _ask_pytorch(posed, torch)
    if outputs is not None:
        yield from _check_values(posed, outputs)
    yield from _check_slices(posed)
    if DTYPES[case.dtype].whole:
        return
    # PyTorch's backward of softmax makes NaN of an ignored row's NaN: that masks hide theirs is tested without it.
    if op.vjp is None or case.fill in NOT_FINITE or case.fill == "masked-special":
        return
    # A row whose numbers lie on kinks asks for the gradients that exist there, and for no others.
    asking = case if case.fill in ON_KINKS else replace(case, needs=None)
    needs = tuple(needs_of(asking, op, inputs, posed.outputs))
    cotangents = tuple(cotangents_of(case, posed.outputs))
    posed = posed.given(mode=Mode.GRADIENT, needs=needs, cotangents=cotangents)
    gradients = evaluate_vjp(op, inputs, posed.params, cotangents, posed.outputs)
    for name, v, d, need in zip(names, inputs, gradients, needs, strict=True):
        if need and v is not None and np.shape(d) != v.shape:
            yield Disagreement(str(case), "finite", f"the vjp of {name} has shape {np.shape(d)}")
            return
    yield from _check_slices(posed)
    if outputs is not None and any(needs):
        yield from _check_autograd(posed, torch)
    undefined = all(y.size and not np.isfinite(y).any() for y in posed.outputs)  # 0 / 0, which has no differences
    if case.fill in _MILD and not undefined and "to" not in posed.params:  # a cast is a staircase
        yield from _check_finite_differences(posed, gradients)
        if op.analytic:
            yield from _check_complex_step(posed, gradients)


def _to_tensors(torch: Any, inputs: Sequence[Array | None]) -> list[Any]:
    return [None if v is None else torch.from_numpy(np.array(v)) for v in inputs]


def _ask_pytorch(posed: Question, torch: Any) -> tuple[Any, ...] | None:
    """Its outputs; None of empty tensors, where it has defects, and of forms of which it has no function."""
    case, op = posed.case, posed.op
    if op.torch is None or op.twin_errs(str(case)) or any(0 in shape for shape in case.shapes.values()):
        return None
    given = [None if v is None else to_dtype(v, case.dtype) for v in posed.inputs]
    try:
        return tuple_of(op.torch(torch, *_to_tensors(torch, given), **posed.params))
    except RuntimeError as error:
        if not isinstance(error, NotImplementedError) and "wrapping around more than once" not in str(error):
            raise
        return None


def _check_values(posed: Question, outputs: Sequence[Any]) -> Iterator[Disagreement]:
    case, op, inputs = posed.case, posed.op, posed.inputs
    expected = reference.expect_forward(posed)
    if len(outputs) != len(expected):
        yield Disagreement(str(case), "values", f"PyTorch gives {len(outputs)} outputs, NumPy {len(expected)}")
        return
    arrays = [got.numpy() for got in outputs]
    if op.drawn_from:
        posed = insert_draw(posed, arrays)
        expected = reference.expect_forward(posed)
        for answer in (arrays, [e.values for e in expected]):
            if no_chance := explain_unfair_draw(posed, answer, ()):
                yield Disagreement(str(case), "values", no_chance)
    if op.settled is not None:
        arrays = list(op.settled(arrays, *inputs, **posed.params))
    agreed = [expected]
    if op.conventions is not None and case.fill in NOT_FINITE:  # elsewhere PyTorch's convention is the reference's
        answers = map(tuple_of, op.conventions(*inputs, **posed.params))
        agreed += [[replace(e, values=v) for e, v in zip(expected, answer, strict=True)] for answer in answers]
    said = [
        [d for got, want in zip(arrays, wanted, strict=True) for d in _compare_results(case, "values", got, want)]
        for wanted in agreed
    ]
    if all(said):
        yield from said[0]


def _check_slices(posed: Question) -> Iterator[Disagreement]:
    for said in find_unlike(posed):
        yield Disagreement(str(posed.case), "slices", said)


def _check_autograd(posed: Question, torch: Any) -> Iterator[Disagreement]:
    op, inputs = posed.op, posed.inputs
    assert op.torch is not None
    twin = functools.partial(op.torch, torch, **posed.params)
    if op.drawn_from:
        with torch.no_grad():
            posed = insert_draw(posed, [y.numpy() for y in twin(*_to_tensors(torch, inputs))])
    gradients = autograd(torch, twin, _to_tensors(torch, inputs), posed.needs, _to_tensors(torch, posed.cotangents))
    groups = None if op.ties is None else op.ties(*inputs, **posed.params)
    for i, (got, want) in enumerate(zip(gradients, reference.expect_vjp(posed), strict=True)):
        if got is not None and want is not None:
            found = np.where(_find_near_kinks(posed), want.values, got.numpy()) if i == 0 else got.numpy()
            yield from _compare_results(posed.case, "autograd", found, want, groups if i == 0 else None)


def _find_near_kinks(posed: Question) -> NDArray[np.bool_]:
    """Where PyTorch, which compares with float32 constants in some backwards, may see another side of a kink."""
    if posed.case.fill not in ("edges", "branches") or posed.op.kinks is None:
        return np.zeros((), dtype=bool)
    with ignore_fp_warnings():
        distance = np.asarray(posed.op.kinks(*posed.inputs, **posed.params))
    return (distance > 0) & (distance < _SPACING)


def _compare_results(
    case: Case, check: str, got: Array, want: Expected, groups: NDArray[np.int64] | None = None
) -> Iterator[Disagreement]:
    if got.shape != want.values.shape:
        yield Disagreement(str(case), check, f"PyTorch's shape is {got.shape}, NumPy's {want.values.shape}")
        return
    whole = DTYPES[case.dtype].whole
    allowed = replace(want, exact=want.exact and (whole or want.values.dtype.kind != "f"))
    comparison = compare(got, allowed, case.dtype)
    if groups is not None:
        comparison, _ = alternatives.in_any_order(got, allowed, groups, comparison, "f64")
    with np.errstate(all="ignore"):
        size = max(1.0, float(np.max(np.abs(want.values), initial=0.0))) * (_OPPOSED if case.fill == OPPOSED else 1)
        near = np.abs(np.subtract(got, want.values, dtype=np.float64)) <= _ABSOLUTE * size
    if not (comparison.passed | (near & (not whole))).all():
        index = comparison.worst or ()
        said = (
            f"at {index} PyTorch has {got[index]!r}, NumPy {want.values[index]!r} ({comparison.units[index]:.3g} units)"
        )
        yield Disagreement(str(case), check, said)


def _make_direction(case: Case, which: int, k: int, shape: tuple[int, ...]) -> Array:
    raw = bits_of(f"{case}|direction {which} {k}")(int(np.prod(shape)))
    return ((raw >> np.uint64(40)).astype(np.float64) / 2.0**23 - 1).reshape(shape)


def _loss_of(posed: Question, inputs: Sequence[Any]) -> Any:
    outputs = evaluate_forward(posed.op, inputs, posed.params)
    pairs = [(g, y) for g, y in zip(posed.cotangents, outputs, strict=True) if g is not None]
    with np.errstate(all="ignore"):
        return sum(np.sum(np.where(np.isfinite(y), g * y, 0)) for g, y in pairs)


def _free(posed: Question, which: int, direction: Array) -> Array:
    """The direction, zero at elements whose gradient the operator holds at zero."""
    masks = None if posed.op.held is None else posed.op.held(*posed.inputs, **posed.params)
    return direction if masks is None or masks[which] is None else np.where(masks[which], 0.0, direction)


def _mask_direction(posed: Question, which: int, direction: Array, step: float) -> Array:
    """The direction, zero at elements from which `step` could reach a kink; all zero where another tensor's would."""
    given = zip(posed.names, posed.inputs, strict=True)
    values = {n: v for n, v in given if n is not None and v is not None}
    direction = _free(posed, which, direction)
    near = measure_kink_distances(posed.case, posed.op, values) < 4 * step
    if which == 0 and near.shape == direction.shape:
        return np.where(near, 0.0, direction)
    return np.zeros_like(direction) if near.any() else direction


def _list_movable(posed: Question) -> Iterator[tuple[int, Array]]:
    """The inputs whose gradient is asked for, by number, but one that is given twice."""
    for which, (x, need) in enumerate(zip(posed.inputs, posed.needs, strict=True)):
        if need and x is not None and sum(v is x for v in posed.inputs) == 1:
            yield which, x


def _check_finite_differences(posed: Question, gradients: Sequence[Any]) -> Iterator[Disagreement]:
    base = 2.0**-12
    case, inputs = posed.case, posed.inputs
    for which, x in _list_movable(posed):
        for k in range(_DIRECTIONS):
            d = _mask_direction(posed, which, _make_direction(case, which, k, x.shape), base)

            def slope(step: float, which: int = which, x: Array = x, d: Array = d) -> float:
                ends = [_loss_of(posed, [*inputs[:which], x + s * d, *inputs[which + 1 :]]) for s in (step, -step)]
                return float(ends[0] - ends[1]) / (2 * step)

            coarse, middle, fine = slope(base), slope(base / 2), slope(base / 4)
            first, second = (4 * middle - coarse) / 3, (4 * fine - middle) / 3
            estimate = (16 * second - first) / 15
            want = float(np.sum(gradients[which] * d))
            size = float(np.sum(np.abs(gradients[which] * d))) + abs(float(_loss_of(posed, inputs))) + 1e-3
            if not abs(estimate - want) <= 1e-7 * size + 4 * abs(second - first):
                yield Disagreement(
                    str(case), "finite", _describe_difference(posed, which, "differences give", estimate, want)
                )
                return


def _check_complex_step(posed: Question, gradients: Sequence[Any]) -> Iterator[Disagreement]:
    step = 2.0**-100
    case, inputs = posed.case, posed.inputs
    for which, x in _list_movable(posed):
        d = _free(posed, which, _make_direction(case, which, 0, x.shape))
        moved = [*inputs[:which], x + 1j * step * d, *inputs[which + 1 :]]
        got = float(np.imag(_loss_of(posed, moved))) / step
        want = float(np.sum(gradients[which] * d))
        size = float(np.sum(np.abs(gradients[which] * d))) + 1e-12
        if not abs(got - want) <= 1e-11 * size:
            yield Disagreement(
                str(case), "complex", _describe_difference(posed, which, "the complex step gives", got, want)
            )
            return


def _describe_difference(posed: Question, which: int, how: str, got: float, want: float) -> str:
    return f"along a direction of {posed.names[which]} {how} {got:.12g}, the vjp {want:.12g}"


_PARTS = 3
_MAX_RELATIVE_DIFFERENCE = 1e-12  # relative to the largest element: sums of other lengths are rounded in another order


def find_unlike(posed: Question) -> Iterator[str]:
    """Results of `posed` that are not what its slices joined are, in words. Arrays are float64."""
    axes = axes_of(posed.case, posed.op)
    if not axes:
        return
    if make_templates(posed, axes) is None:
        if posed.op.independent is not None:
            yield "an axis that it names is no axis of an output, or has another extent there"
        return
    names = posed.names if posed.mode is Mode.GRADIENT else list(results_of(posed, posed.outputs))
    wholes = dict(zip(names, values_of(posed), strict=True))
    for k, axis in enumerate(axes):
        sizes, parts = [a.extent for a in axes], range(-(-axis.extent // _PARTS), axis.extent + 1)
        sizes[k] = next(n for n in parts if axis.valid(n, posed.case.shapes))
        room = ChunkPlan(axes, tuple(sizes), {})
        for name, shape in results_of(posed, posed.outputs).items():
            want = wholes[name]
            with ignore_fp_warnings():
                got = evaluate_in_block(posed, room, make_whole_block(axes), name, shape)
            if want is not None and not _is_same(got, want):
                yield f"{name} is another of {sizes[k]} slices of {axis.extent} at a time, joined along {dict(axis.of)}"
                return


def _is_same(got: Array, want: Array) -> bool:
    with np.errstate(all="ignore"):
        want = np.asarray(want, dtype=np.float64)
        size = float(np.max(np.abs(want), where=np.isfinite(want), initial=1.0))
        near = np.abs(got - want) <= _MAX_RELATIVE_DIFFERENCE * size
        return bool(np.all(near | (got == want) | (np.isnan(got) & np.isnan(want))))
