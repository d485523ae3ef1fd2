"""A wrong tensor, and when an explanation of it is good enough to be said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.cases import Case
from opproof.harness.judge.bound import C, floor_of
from opproof.harness.judge.judgement import Judgement
from opproof.harness.run.execute import Outcome, output_names
from opproof.harness.truth.data import arguments, cotangents_of, inputs_of, ordered, parameters
from opproof.harness.truth.reference import forward
from opproof.reference_ops import Op, gradients_of
from opproof.vocabulary.arrays import Array, tuple_of
from opproof.vocabulary.dtypes import DTYPES, round_to

#: An explanation must be less likely by chance than 2^-BITS.
BITS = 10.0
#: Beyond so many elements, inputs and results together, operators are not evaluated again.
MOST = 2**17
#: Units of honest rounding that an explanation may leave: many for a backend of large rounding
#: errors (16-bit dtypes are too coarse for that), or few, where more would not be telling.
_UNITS = (C, 3.0)


@dataclass(frozen=True)
class Wrong:
    """One wrong output or gradient, and all that it was made of. Arrays are float64 unless integers."""

    case: Case
    op: Op
    mode: str
    inputs: tuple[Array | None, ...]
    cotangents: tuple[Array | None, ...]  # None for an output not of floats
    which: int  # position among the outputs, or among the arguments
    what: str  # "y", or "the gradient of x"
    got: Array
    expected: Array
    scale: Array
    failing: NDArray[np.bool_]
    units: Array
    stale: Array | None

    @property
    def params(self) -> dict[str, Any]:
        """Every parameter, defaults filled in."""
        return parameters(self.case, self.op)

    @property
    def names(self) -> list[str | None]:
        """Names of the inputs."""
        return arguments(self.case, self.op)

    def fits(
        self,
        candidate: Array | None,
        *,
        free: int = 0,
        where: NDArray[np.bool_] | None = None,
        poison: bool = False,
    ) -> bool:
        """Whether `candidate` explains every element (of `where`), and the wrong ones beyond chance.

        Evidence, in bits: at a wrong element, log2 of its error over the tolerance, which is how
        unlikely it is to meet an unrelated value. `free` counts numbers taken from the data, each
        of which costs the evidence of one element; `poison` says that NaN is to be expected, from
        the memory around the elements.
        """
        if candidate is None or candidate.shape != self.got.shape:
            return False
        inside = np.ones(self.got.shape, dtype=bool) if where is None else where
        candidate = candidate if self.expected.dtype.kind != "f" else candidate.astype(np.float64)
        for units in _UNITS if DTYPES[self.case.dtype].digits >= 24 else _UNITS[1:]:
            tolerance = self._tolerance(candidate, units)
            near = _near(self.got, candidate, tolerance, self.case.dtype)
            unaffected = ~self.failing & _near(self.expected, candidate, tolerance, self.case.dtype)
            if not (near | unaffected)[inside].all():
                return False
            bits = np.sort(self._bits(tolerance, poison)[inside & self.failing])
            if bits[: max(len(bits) - free, 0)].sum() >= BITS:
                return True
        return False

    def _tolerance(self, candidate: Array, units: float) -> Array:
        """How far from `candidate` an honest computation of it may be."""
        if self.expected.dtype.kind != "f":
            return np.zeros(self.got.shape)
        kind = DTYPES[self.case.dtype]
        usual = np.median(self.scale) if self.scale.size else 0.0
        found = units * kind.u * (np.maximum(self.scale, usual) + np.abs(candidate)) + floor_of(kind)
        return np.where(np.isfinite(found), found, floor_of(kind))

    def _bits(self, tolerance: Array, poison: bool) -> Array:
        if self.expected.dtype.kind != "f":
            return np.full(self.got.shape, 1.0 if self.expected.dtype.kind == "b" else 3.0)
        error = np.abs(self.got - self.expected)
        bits = np.log2(np.maximum(error / tolerance, 1.0))
        unlike = 2.0 if poison or np.isfinite(self.got).any() else 0.0  # NaN everywhere tells nothing
        return np.where(np.isfinite(error), np.minimum(bits, 20.0), unlike)

    def explained(self, *, poison: bool = False, **changes: Any) -> bool:
        """Whether the tensor with something changed explains what is there; see `again` for the changes."""
        if self.fits(self.again(**changes), poison=poison):
            return True
        return self.mode == "gradient" and self.fits(self.again(**changes, saved=True), poison=poison)

    def again(
        self,
        *,
        saved: bool = False,
        inputs: Sequence[Array | None] | None = None,
        cotangents: Sequence[Array | None] | None = None,
        params: Mapping[str, Any] | None = None,
        op: Op | None = None,
        which: int | None = None,
    ) -> Array | None:
        """The tensor as it would be with something changed; None where that cannot be computed.

        `saved`: a gradient is computed from outputs rounded to the dtype, as backends keep them.
        """
        if self.got.size + sum(v.size for v in self.inputs if v is not None) > MOST:
            return None
        op = self.op if op is None else op
        inputs = self.inputs if inputs is None else inputs
        cotangents = self.cotangents if cotangents is None else cotangents
        given = self.params if params is None else params
        which = self.which if which is None else which
        try:
            outputs = tuple_of(op.forward(*inputs, **given))
            if self.mode == "forward":
                found = outputs
            elif op.vjp is None:
                return None
            else:
                if saved:
                    kind = DTYPES[self.case.dtype]
                    outputs = tuple(round_to(y, kind) if np.asarray(y).dtype.kind == "f" else y for y in outputs)
                found = gradients_of(op, cotangents, outputs, inputs, given)
        except Exception:  # a change that the operator rejects, in whatever way, explains nothing
            return None
        if which >= len(found) or found[which] is None:
            return None
        return _cropped(np.asarray(found[which]), self.got.shape)

    def before(self) -> Array | None:
        """The right answer to the call before, which had other data."""
        inputs = ordered(self.case, self.op, inputs_of(self.case, self.op, variant=1))
        outputs = forward(self.case, self.op, inputs)
        return self.again(inputs=inputs, cotangents=cotangents_of(self.case, outputs, variant=1))


def wrongs(case: Case, op: Op, mode: str, outcome: Outcome, found: Judgement) -> list[Wrong]:
    """Every tensor of `found` in which an element is wrong."""
    names = arguments(case, op) if mode == "gradient" else list(output_names(op, len(outcome.arrays)))
    tensors = []
    for name, got, expected, comparison in found.comparisons:
        if comparison.passed.all():
            continue
        which = names.index(name)
        floats = expected.values.dtype.kind == "f"
        stale = outcome.stale[which] if which < len(outcome.stale) else None
        tensors.append(
            Wrong(
                case,
                op,
                mode,
                tuple(outcome.inputs),
                tuple(outcome.cotangents),
                which,
                name if mode == "forward" else f"the gradient of {name}",
                np.asarray(got, dtype=np.float64) if floats else np.asarray(got),
                expected.values,
                expected.scale,
                ~comparison.passed,
                comparison.units,
                None if stale is None else np.asarray(stale, dtype=np.float64),
            )
        )
    return tensors


def _cropped(array: Array, shape: tuple[int, ...]) -> Array | None:
    """`array`, or its leading corner of `shape`: what is left of a larger result in a buffer of the right size."""
    if array.ndim != len(shape) or any(n < m for n, m in zip(array.shape, shape, strict=True)):
        return None
    return array[tuple(slice(n) for n in shape)]


def _near(a: Array, b: Array, tolerance: Array, dtype: str) -> NDArray[np.bool_]:
    """Equal within `tolerance`; NaN meets NaN, and an infinity a value beyond the dtype's range."""
    if a.dtype.kind != "f" or b.dtype.kind != "f":
        return np.asarray(a == b)
    largest = DTYPES[dtype].max
    same = (np.abs(a - b) <= tolerance) | (a == b) | (np.isnan(a) & np.isnan(b))
    beyond = (np.abs(b) + tolerance >= largest) & np.isinf(a) & (np.sign(a) == np.sign(b))
    return np.asarray(same | beyond)
