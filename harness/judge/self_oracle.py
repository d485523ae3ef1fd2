"""Gradients against differences of the backend's own forward: `--grad-oracle self`, for what has no reference.

Along a direction v the loss L(t) = sum g f(x + t v) is taken from the backend at t = ±h for a ladder of
steps, and the central difference D(h) = (L(h) - L(-h)) / 2h is compared with v · vjp. How far D(h) can be
trusted is measured on the ladder: its change from rung to rung (truncation), the rounding of the outputs
over h, and the disagreement of the one-sided differences where it does not shrink with h (a kink or a jump).
What these leave open is INCONCLUSIVE; this never says PASS to what it cannot resolve.

Source of the trade-off between truncation and rounding: Gill, Murray, Wright, Practical Optimization, 1981, 8.6.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from opproof.cases import Case
from opproof.cases._fills.random_bits import bits_of
from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, round_to
from opproof.core.verdicts import Verdict
from opproof.harness.judge.judgement import Judgement, number
from opproof.harness.judge.outputs import EarlyVerdict, Outputs
from opproof.harness.reference.question import Question
from opproof.reports import Worst

#: The backend's outputs at given inputs.
Forward: TypeAlias = Callable[[Sequence[Array | None]], Sequence[Array | None]]
#: Of the backend's forward with one argument replaced: the loss, and how far rounding may have moved it.
Loss: TypeAlias = Callable[[Array], tuple[float, float]]

#: Directions per argument: so many move every element, and as many about eight elements each.
DIRECTIONS_PER_ARGUMENT = 3
#: Rungs of the ladder, from a step of a quarter of the input's size down.
LADDER_RUNGS = 12
#: Roundings of the outputs that a difference of losses is granted, and how far the estimate of its error may be off.
_GRANTED_ROUNDINGS = 4.0
_MAX_ESTIMATE_RATIO = 8.0
#: The largest error, relative to the gradient along the direction, with which a difference is evidence.
_MAX_RELATIVE_ERROR = 0.1
_WRONG = "the gradient along a direction is not the slope of the backend's own forward"


@dataclass(frozen=True)
class Slope:
    """Along one direction: what the backend's gradient says, what its forward does, and how far that may be off."""

    got: float
    value: float
    error: float

    @property
    def size(self) -> float:
        """What the error is measured against."""
        return max(abs(self.got), abs(self.value))


def judge_by_self(forward: Forward, posed: Question, answer: Outputs) -> Judgement:
    """Judge the gradients of `answer` by calls of the backend's forward. Reads no reference but for shapes.

    `forward` gives the outputs at other inputs, and raises Settled where the backend does not.
    """
    case = posed.case
    finest, doubtful = 0.0, []
    for i, (name, x, need) in enumerate(zip(posed.names, posed.inputs, posed.needs, strict=True)):
        if not need or x is None or not x.size:
            continue
        gradient = np.asarray(answer.arrays[i], dtype=np.float64)
        try:
            loss = functools.partial(_compute_loss, forward, posed, i)
            resolved = [_estimate_slope(loss, case, x, gradient, v) for v in _draw_directions(case, str(name), x.shape)]
        except EarlyVerdict as settled:
            reason = f"the forward could not be differentiated: {settled.message}"
            return Judgement(Verdict.INCONCLUSIVE, reason)
        for slope in resolved:
            if not abs(slope.got - slope.value) <= slope.error:
                numbers = {"got": slope.got, "expected": slope.value, "bound": slope.error}
                worst = Worst(tensor=str(name), index=(), **{n: number(x) for n, x in numbers.items()})
                return Judgement(Verdict.WRONG_GRADIENT, _WRONG, worst=worst)
        sharp = [s.error / s.size for s in resolved if s.error <= _MAX_RELATIVE_ERROR * s.size]
        if not sharp and any(s.size > 0 for s in resolved):
            doubtful.append(str(name))
        finest = max([finest, *sharp])
    if doubtful:
        reason = (
            f"differences of the backend's own forward are too coarse here for the gradient of {', '.join(doubtful)}"
        )
        return Judgement(Verdict.INCONCLUSIVE, reason)
    note = f"by differences of the backend's own forward, which resolve {finest:.1g} of the gradient"
    return Judgement(Verdict.PASS, note)


def _draw_directions(case: Case, name: str, shape: tuple[int, ...]) -> list[Array]:
    size = int(np.prod(shape))
    words = bits_of(f"{case} directions of {name}")
    directions = []
    for k in range(2 * DIRECTIONS_PER_ARGUMENT):
        signs = np.where(words(size) & np.uint64(1), 1.0, -1.0)
        kept = (
            words(size) % np.uint64(max(1, size // 8)) == 0
            if k >= DIRECTIONS_PER_ARGUMENT
            else np.ones(size, dtype=bool)
        )
        directions.append(np.reshape(np.where(kept, signs, 0.0), shape))
    return [v for v in directions if v.any()]


def _compute_loss(forward: Forward, posed: Question, which: int, moved: Array) -> tuple[float, float]:
    """Sum of g y over all float outputs with argument `which` replaced, and how far rounding may have moved it."""
    outputs = forward([*posed.inputs[:which], moved, *posed.inputs[which + 1 :]])
    kind, total, squares = DTYPES[posed.case.dtype], 0.0, 0.0
    for y, g in zip(outputs, posed.cotangents, strict=True):
        if y is None or g is None or y.dtype.kind in "iub":
            continue
        terms = g * np.asarray(y, dtype=np.float64)
        terms = terms[np.isfinite(terms)]  # a constant infinity, such as a mask's, has no slope
        total, squares = total + float(terms.sum()), squares + float(np.sum(np.square(terms)))
    return total, kind.u * squares**0.5 + kind.tiny


def _estimate_slope(loss: Loss, case: Case, x: Array, gradient: Array, v: Array) -> Slope:
    """The most trustworthy rung of the ladder along `v`, in steps relative to the input's size."""
    kind = DTYPES[case.dtype]
    direction = v * np.maximum(np.abs(x), max(1e-3, float(np.sqrt(np.mean(np.square(x))))))
    middle, noise = loss(x)
    rungs: list[tuple[float, Slope, float]] = []  # step, slope with the error of rounding alone, one-sided disagreement
    for k in range(2, 2 + LADDER_RUNGS):
        h = 2.0**-k
        up, down = round_to(x + h * direction, kind), round_to(x - h * direction, kind)
        if (up == down)[direction != 0].any():
            break  # below the spacing of the dtype
        (high, _), (low, _) = loss(up), loss(down)
        # By the displacements that the dtype holds, so that their rounding is no error of the slope.
        got = float(np.sum(gradient * (up - down))) / (2 * h)
        uneven = float(np.sum(gradient * (up + down - 2 * x)))
        bend = abs(high + low - 2 * middle - uneven) / h
        rungs.append((h, Slope(got, (high - low) / (2 * h), _GRANTED_ROUNDINGS * noise / h), bend))
    trusted = [_with_truncation(rungs, k) for k in range(1, len(rungs))]
    best = min(trusted, key=lambda s: s.error, default=Slope(0.0, 0.0, np.inf))
    own = 16 * kind.u * float(np.sum(np.abs(gradient * direction)))
    return Slope(best.got, best.value, _MAX_ESTIMATE_RATIO * best.error + own)


def _with_truncation(rungs: list[tuple[float, Slope, float]], k: int) -> Slope:
    """Rung `k` with an error that counts how its neighbours and finer rungs differ, and kinks within the step."""
    _, slope, bend = rungs[k]
    gap = slope.value - slope.got
    changes = [abs(s.value - s.got - gap) for _, s, _ in (*rungs[k - 1 : k], *rungs[k + 1 : k + 2])]
    changes += [abs(s.value - s.got - gap) - s.error for _, s, _ in rungs[k + 2 :]]
    broken = bend > 0.75 * rungs[k - 1][2] + 4 * slope.error  # where it is smooth, half the step bends half as much
    error = float(np.max(changes)) + slope.error + (bend / 2 if broken else 0.0)
    return Slope(slope.got, slope.value, error if np.isfinite(error) else np.inf)
