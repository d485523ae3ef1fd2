"""Gradients by finite differences, for operators that bring no vjp.

Central differences of the float64 reference, Richardson-extrapolated from two steps, one input
element at a time. The second difference of a smooth function is a quarter at half the step; where
it is more there is a kink or a jump within the step, and the element is not judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.harness.reference.question import Expected, Question, evaluate_forward

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
