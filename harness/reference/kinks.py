"""Gradients by differences: one-sided ones at kinks, whose gradients lie between, and central ones where no vjp is.

One-sided differences of the float64 reference along one element at a time, Richardson-extrapolated. Positive and
negative cotangents make an interval each: an element that ties in two windows may win one and lose the other.
Elements that tie share a kink: maximum(a, a) grows by g when both grow by 1, so its two gradients add up to g,
whoever gets it.

For operators that bring no vjp the differences are central. The second difference of a smooth function is a quarter at
half the step; where it is more there is a kink or a jump within the step, and the element is not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.harness.reference.question import Expected, Question, evaluate_forward
from opproof.reference_ops import Trait

#: By how much an element is moved, and beside a large one by which part of it: neighbours in float32 are not passed,
#: and float64 has 16 bits below.
_MIN_KINK_STEP = 2.0**-20
_KINK_STEP_PART = 2.0**-36
#: A one-sided slope beyond this is a jump of the function, not a derivative.
_MIN_JUMP_SLOPE = 2.0**14
#: Elements that are looked at one by one, where no formula has them all at once; the others only together.
MAX_SINGLE_ELEMENTS = 4096
#: Fewer where each takes an evaluation of much: so many elements, of inputs and outputs, are evaluated in all.
_MAX_EVALUATED_ELEMENTS = 2**25


@dataclass(frozen=True)
class KinkIntervals:
    """Where the gradient of one argument may lie: `low <= gradient <= high` at the elements of `mask`.

    `left` and `right` are the derivatives from either side, (..., 2): of positive and of negative cotangents. Where
    `unseen`, nothing is known of an element by itself.
    """

    mask: NDArray[np.bool_]
    left: NDArray[np.float64]
    right: NDArray[np.float64]
    unseen: NDArray[np.bool_]

    @property
    def low(self) -> NDArray[np.float64]:
        """The least that a gradient may be."""
        return np.where(self.unseen, -np.inf, np.minimum(self.left, self.right).sum(axis=-1))

    @property
    def high(self) -> NDArray[np.float64]:
        """The most that a gradient may be."""
        return np.where(self.unseen, np.inf, np.maximum(self.left, self.right).sum(axis=-1))


def find_intervals(posed: Question, which: int, at_kink: NDArray[np.bool_]) -> KinkIntervals:
    """The interval of every element of argument `which` in `at_kink` whose one-sided derivatives differ."""
    x = posed.inputs[which]
    assert x is not None
    left, right = np.zeros((*x.shape, 2)), np.zeros((*x.shape, 2))
    unseen = np.zeros(x.shape, dtype=bool)
    if Trait.POINTWISE in posed.op.traits and all(_spreads(x.shape, y.shape) for y in posed.outputs):
        left[...], right[...] = _differentiate_everywhere(posed, which, -1), _differentiate_everywhere(posed, which, 1)
    else:
        elements = sum(v.size for v in (*posed.inputs, *posed.outputs) if v is not None)
        most = min(MAX_SINGLE_ELEMENTS, _MAX_EVALUATED_ELEMENTS // elements)
        for number, index in enumerate(map(tuple, np.argwhere(at_kink))):
            if number >= most:
                unseen[index] = True
                continue
            direction = np.zeros(x.shape)
            direction[index] = 1
            left[index], right[index] = (measure_slope(posed, {which: direction}, sign) for sign in (-1, 1))
    apart = np.abs(left - right) > 1e-7 * (1 + np.abs(left) + np.abs(right))
    smooth = (np.abs(left) < _MIN_JUMP_SLOPE) & (np.abs(right) < _MIN_JUMP_SLOPE)
    return KinkIntervals(at_kink & (unseen | (apart.any(axis=-1) & smooth.all(axis=-1))), left, right, unseen)


def _spreads(shape: tuple[int, ...], onto: tuple[int, ...]) -> bool:
    """Whether an argument of `shape` is broadcast to `onto`, axis by axis.

    One tensor that holds two halves is not, nor surely one of fewer axes: they may be the channels.
    """
    return len(shape) == len(onto) and all(n in (1, m) for n, m in zip(shape, onto, strict=True))


def measure_slope(posed: Question, directions: dict[int, Array], sign: float) -> Array:
    """The derivative of L with arguments moved along `sign` times their directions, taken along the directions: (2,).

    What positive and what negative cotangents give; indices and other integers have none.
    """

    def parts(moved: Sequence[Array | None]) -> Array:
        terms = _measure_changes(posed, moved)
        return np.sum([[float(t.sum()) for t in pair] for pair in terms], axis=0) if terms else np.zeros(2)

    moved = ((posed.inputs[which], direction != 0) for which, direction in directions.items())
    size = max((float(np.abs(x[along]).max(initial=0)) for x, along in moved if x is not None), default=0.0)
    return _differentiate_one_side(posed, directions, sign, parts, _choose_step(np.asarray(size)))


def _differentiate_everywhere(posed: Question, which: int, sign: float) -> Array:
    """The derivatives of a pointwise operator along every element of one argument, all at once: (..., 2)."""
    x = posed.inputs[which]
    assert x is not None

    def parts(moved: Sequence[Array | None]) -> Array:
        total = np.zeros((*x.shape, 2))
        for pair in _measure_changes(posed, moved):
            for k, t in enumerate(pair):
                total[..., k] += _sum_to_shape(t, x.shape)
        return total

    return _differentiate_one_side(posed, {which: np.ones(x.shape)}, sign, parts, _choose_step(np.abs(x)))


def _differentiate_one_side(
    posed: Question,
    directions: dict[int, Array],
    sign: float,
    parts: Callable[[Sequence[Array | None]], Array],
    step: Array,
) -> Array:
    def difference(step: Array) -> Array:
        moved = list(posed.inputs)
        for which, direction in directions.items():
            x = moved[which]
            assert x is not None
            moved[which] = x + sign * step * direction
        return sign * parts(moved) / (step[..., None] if step.ndim else step)

    return 2 * difference(step / 2) - difference(step)


def _choose_step(size: Array) -> Array:
    """The power of two by which numbers of this size are moved, infinities by the least: they stay where they are."""
    size = np.where(np.isfinite(size), size, 0)
    return np.maximum(_MIN_KINK_STEP, np.exp2(np.ceil(np.log2(np.maximum(_KINK_STEP_PART * size, _MIN_KINK_STEP)))))


def _measure_changes(posed: Question, moved: Sequence[Array | None]) -> list[tuple[Array, Array]]:
    """By how much moved inputs change every g y: where cotangents are positive, and where they are not."""
    there = evaluate_forward(posed.op, moved, posed.params)
    return [
        ((f - b) * np.where(g > 0, g, 0), (f - b) * np.where(g > 0, 0, g))
        for g, f, b in zip(posed.cotangents, there, posed.outputs, strict=True)
        if g is not None and b.dtype.kind == "f"
    ]


def _sum_to_shape(values: Array, shape: tuple[int, ...]) -> Array:
    """`values` summed over the axes along which an argument of `shape` was broadcast."""
    lead = values.ndim - len(shape)
    axes = tuple(range(lead)) + tuple(lead + i for i, n in enumerate(shape) if n == 1 != values.shape[lead + i])
    return np.reshape(values.sum(axis=axes), shape)


def describe_convention(gradient: Array, kinked: KinkIntervals) -> str:
    """Which derivative a backend takes at kinks, in words; empty where it has none."""
    seen = kinked.mask & ~kinked.unseen
    if not seen.any():
        return ""
    got = np.asarray(gradient, dtype=np.float64)[seen]
    if np.isnan(got).any():  # which is no derivative, nor between any
        return ""
    left, right = kinked.left.sum(axis=-1)[seen], kinked.right.sum(axis=-1)[seen]
    candidates = {
        "the left derivative": left,
        "the right derivative": right,
        "the mean of both sides": (left + right) / 2,
        "zero": np.zeros_like(left),
    }
    near = [n for n, c in candidates.items() if np.allclose(got, c, rtol=2e-2, atol=1e-6)]
    return f"at kinks it takes {near[0] if near else 'a value between both sides'}"


#: Directions that are tried beside the one in which all elements grow, where inputs have one shape.
_MIXED_DIRECTIONS = 3


@dataclass(frozen=True)
class SlopeInterval:
    """Between which the gradient along `directions`, by argument, must lie."""

    directions: Mapping[int, Array]
    low: float
    high: float


def find_slope_intervals(posed: Question, kinked: Mapping[int, KinkIntervals]) -> Iterator[SlopeInterval]:
    """Of the kinked elements of every argument; none where each element has a kink of its own."""
    kinked = {which: k for which, k in kinked.items() if k.mask.any()}
    if not kinked:
        return
    for signs in _choose_signs(kinked):
        directions = {which: np.where(k.mask, signs, 0.0) for which, k in kinked.items()}
        ends = np.stack([measure_slope(posed, directions, -1), measure_slope(posed, directions, 1)])
        own = _sum_single_kinks(kinked, directions)
        shared = np.ones(2, dtype=bool) if own is None else ~np.isclose(ends, own, rtol=1e-6, atol=1e-6).all(axis=0)
        if not shared.any():
            continue
        least, most = _sum_intervals(kinked, directions)
        low = np.where(shared, ends.min(axis=0), least)
        high = np.where(shared, ends.max(axis=0), most)
        yield SlopeInterval(directions, float(low.sum()), float(high.sum()))


def _choose_signs(kinked: Mapping[int, KinkIntervals]) -> Iterator[Array]:
    """All growing together; where several inputs of one shape have kinks, also some growing and some falling."""
    yield np.ones(())
    shapes = {k.mask.shape for k in kinked.values()}
    if len(kinked) > 1 and len(shapes) == 1:
        rng = np.random.default_rng(0)
        for _ in range(_MIXED_DIRECTIONS):
            yield rng.choice([-1.0, 1.0], size=next(iter(shapes)))


def _sum_single_kinks(kinked: Mapping[int, KinkIntervals], directions: Mapping[int, Array]) -> Array | None:
    """The derivatives from either side, (2, 2), as they were if each element had its own kink; None where not known."""
    if any(k.unseen.any() for k in kinked.values()):
        return None
    total = np.zeros((2, 2))
    for which, k in kinked.items():
        d = directions[which][..., None]
        before, after = np.where(d > 0, k.left, k.right) * d, np.where(d > 0, k.right, k.left) * d
        total += np.stack([before[k.mask].sum(axis=0), after[k.mask].sum(axis=0)])
    return total


def _sum_intervals(kinked: Mapping[int, KinkIntervals], directions: Mapping[int, Array]) -> tuple[Array, Array]:
    """The least and the most that the intervals of the elements allow."""
    least, most = np.zeros(2), np.zeros(2)
    for which, k in kinked.items():
        ends = np.stack([k.left, k.right]) * directions[which][..., None]
        least, most = least + ends.min(axis=0)[k.mask].sum(axis=0), most + ends.max(axis=0)[k.mask].sum(axis=0)
    return least, most


#: The step of a central difference, for numbers up to 1.
_STEP = 2.0**-13
#: Relative error of the extrapolated difference, and how far second differences may be from a quarter.
_ERROR = 1e-8
_KINK = 1e-2
#: Honest rounding of an unknown gradient formula, in roundings of its terms and of the outputs, from which many go.
_TERMS = 4.0


@dataclass(frozen=True)
class EstimatedGradient:
    """The gradient of one argument: what is expected, and which elements could be estimated."""

    expected: Expected
    smooth: NDArray[np.bool_]


def estimate_gradients(posed: Question) -> list[EstimatedGradient | None]:
    """The gradient of every needed argument, with a scale made of the terms that add up to it."""
    return [
        _estimate_gradient(posed, i) if need and x is not None else None
        for i, (x, need) in enumerate(zip(posed.inputs, posed.needs, strict=True))
    ]


def _estimate_gradient(posed: Question, which: int) -> EstimatedGradient:
    inputs, x = posed.inputs, posed.inputs[which]
    assert x is not None
    values, scale, smooth = np.zeros(x.shape), np.zeros(x.shape), np.zeros(x.shape, dtype=bool)
    base = _multiply_outputs(posed, inputs)

    def at(index: tuple[int, ...], offset: float) -> Array:
        moved = x.copy()
        moved[index] += offset
        return _multiply_outputs(posed, [*inputs[:which], moved, *inputs[which + 1 :]])

    for index in np.ndindex(x.shape):
        step = _STEP * max(1.0, abs(float(x[index])))
        far, near = (at(index, step), at(index, -step)), (at(index, step / 2), at(index, -step / 2))
        coarse, fine = (far[0] - far[1]) / (2 * step), (near[0] - near[1]) / step
        terms = (4 * fine - coarse) / 3
        values[index] = terms.sum()
        size = float(np.sqrt(np.sum(np.square(terms)) * max(1, np.count_nonzero(terms))))
        bend = [float((up - base - (base - down)).sum()) / step for up, down in (far, near)]
        rounding = _ERROR * size + 2.0**-48 * float(np.sum(np.abs(base))) / step
        smooth[index] = abs(bend[0] - 4 * bend[1]) <= _KINK * abs(bend[0]) + rounding
        outputs = float(np.sqrt(np.sum(np.square(base[terms != 0])))) / max(1.0, abs(float(x[index])))
        scale[index] = _TERMS * (size + outputs) + _ERROR * (size + 1e-3) / DTYPES[posed.dtype_of(which)].u
    return EstimatedGradient(Expected(values, scale), smooth)


def _multiply_outputs(posed: Question, inputs: Sequence[Array | None]) -> Array:
    """The products g y of every output element that has a cotangent, in one vector."""
    outputs = evaluate_forward(posed.op, inputs, posed.params)
    pairs = zip(posed.cotangents, outputs, strict=True)
    return np.concatenate([np.zeros(0), *(np.ravel(g * y) for g, y in pairs if g is not None)])
