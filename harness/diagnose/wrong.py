"""A wrong tensor, and when an explanation of it is good enough to be said."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.cases import Case
from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, round_to
from opproof.core.verdicts import Mode
from opproof.harness.judge.bound import C, floor_of
from opproof.harness.judge.judgement import Judgement
from opproof.harness.judge.outputs import Outputs
from opproof.harness.reference.question import Question, evaluate_forward, evaluate_vjp, make_question, name_outputs
from opproof.reference_ops import Op

#: An explanation must be less likely by chance than 2^-MIN_EVIDENCE_BITS.
MIN_EVIDENCE_BITS = 10.0
#: Beyond so many elements, inputs and results together, operators are not evaluated again.
MAX_EVALUATED_ELEMENTS = 2**17
#: Units of honest rounding that an explanation may leave: many for a backend of large rounding
#: errors (16-bit dtypes are too coarse for that), or few, where more would not be telling.
_FIT_UNITS = (C, 3.0, 1.25)


@dataclass(frozen=True)
class WrongTensor:
    """One wrong output or gradient, and all that it was made of. Arrays are float64 unless integers."""

    posed: Question
    which: int  # position among the outputs, or among the arguments
    what: str  # "y", or "the gradient of x"
    got: Array
    expected: Array
    scale: Array
    failing: NDArray[np.bool_]
    units: Array
    stale: Array | None
    all_wrong: frozenset[int] = frozenset()  # positions of all that are wrong in the record
    others: tuple[WrongTensor, ...] = ()  # what came beside it: of the same answer, and of other calls of the backend

    @property
    def case(self) -> Case:
        return self.posed.case

    @property
    def dtype(self) -> str:
        return self.posed.dtype_of(self.which)

    @property
    def op(self) -> Op:
        return self.posed.op

    @property
    def mode(self) -> Mode:
        """Whether an output or a gradient is wrong."""
        return self.posed.mode

    @property
    def params(self) -> Mapping[str, Any]:
        """Every parameter, defaults filled in."""
        return self.posed.params

    @property
    def names(self) -> tuple[str | None, ...]:
        return self.posed.names

    @property
    def inputs(self) -> tuple[Array | None, ...]:
        """What the backend was given."""
        return self.posed.inputs

    @property
    def cotangents(self) -> tuple[Array | None, ...]:
        """Of every output; none in forward mode."""
        return self.posed.cotangents

    @property
    def lost(self) -> NDArray[np.bool_]:
        """Wrong elements that are NaN where a number is expected."""
        if self.expected.dtype.kind != "f":
            return np.zeros(self.got.shape, dtype=bool)
        return np.asarray(self.failing & np.isnan(self.got) & np.isfinite(self.expected))

    @property
    def numbers(self) -> NDArray[np.bool_]:
        """Wrong elements that are not: a call with other numbers is told by them, for many such calls make NaN."""
        return np.asarray(self.failing & ~self.lost)

    def fits(
        self,
        candidate: Array | None,
        *,
        free: int = 0,
        where: NDArray[np.bool_] | None = None,
        through: Array | float = 0.0,
    ) -> bool:
        """Whether `candidate` explains every element (of `where`), and the wrong ones beyond chance.

        Evidence, in bits: log2 of an element's error over the tolerance, which is how unlikely it is
        to meet an unrelated value, of right ones too. `free` counts numbers taken from the data, each
        of which costs the evidence of one element; `through` is what was rounded on the way to the candidate.
        """
        if candidate is None or candidate.shape != self.got.shape:
            return False
        inside = np.ones(self.got.shape, dtype=bool) if where is None else where
        candidate = candidate if self.expected.dtype.kind != "f" else candidate.astype(np.float64)
        for units in _FIT_UNITS if DTYPES[self.dtype].digits >= 24 else _FIT_UNITS[1:]:
            tolerance = self.tolerance_of(candidate, units, through)
            near = _is_near(self.got, candidate, tolerance, self.dtype)
            unaffected = ~self.failing & _is_near(self.expected, candidate, tolerance, self.dtype)
            if not (near | unaffected)[inside].all():
                return False
            bits = np.sort(self._count_bits(candidate, tolerance)[inside])
            if bits[: max(len(bits) - free, 0)].sum() >= MIN_EVIDENCE_BITS:
                return True
        return False

    @property
    def whole(self) -> bool:
        """Whether its elements are truth values or integers: nothing rounds them, and they are met or not."""
        return self.expected.dtype.kind != "f" or DTYPES[self.dtype].whole

    def tolerance_of(self, candidate: Array, units: float, through: Array | float = 0.0) -> Array:
        """How far from `candidate` an honest computation of it may be."""
        if self.whole:
            return np.zeros(self.got.shape)
        kind = DTYPES[self.dtype]
        usual = np.median(noisy) if (noisy := self.scale[self.scale > 0]).size else 0.0
        size = np.maximum(self.scale, usual) + np.abs(candidate) + np.abs(through)
        tolerance = units * kind.u * size + floor_of(kind)
        return np.where(np.isfinite(tolerance), tolerance, floor_of(kind))

    def _count_bits(self, candidate: Array, tolerance: Array) -> Array:
        if self.whole:
            return np.where(self.failing, 1.0 if self.expected.dtype.kind == "b" else 3.0, 0.0)
        error, left = (np.log2(np.maximum(np.abs(self.got - v) / tolerance, 1.0)) for v in (self.expected, candidate))
        unlike = 2.0 if np.isfinite(self.got).any() else 0.0  # NaN everywhere tells nothing
        told = np.isfinite(error) & np.isfinite(left)
        return np.where(told, np.minimum(error - left, 20.0), np.where(self.failing, unlike, 0.0))

    def explained(self, **changes: Any) -> bool:
        """Whether the tensor with something changed explains what is there; see `again` for the changes.

        Not where rounded outputs alone do: a change that changes nothing, dim=1 for dim=-1, would then be blamed.
        """
        candidate = self.again(**changes)
        if self.fits(candidate):
            return True
        if self.mode is not Mode.GRADIENT or not self._is_like(candidate):
            return False
        return self.fits(self.again(**changes, saved=True)) and not self.fits(self.again(saved=True))

    def is_refuted_by(self, inputs: Callable[[WrongTensor], Sequence[Array | None]]) -> bool:
        """Whether something that is right would be another number, were it computed of such inputs.

        What is missing in every call is missing there too; in this call alone it is that call's own, or a coincidence.
        """
        alike = (one for one in self.others if one.mode is self.mode)
        return any(one.is_right_beside(one.again(inputs=inputs(one))) for one in alike)

    def is_right_beside(self, candidate: Array | None) -> bool:
        """Whether an element is right that is farther from `candidate` than rounding explains."""
        if candidate is None or candidate.shape != self.got.shape:
            return False
        candidate = candidate if self.expected.dtype.kind != "f" else candidate.astype(np.float64)
        near = _is_near(self.got, candidate, self.tolerance_of(candidate, C), self.dtype)
        return bool((~near & ~self.failing).any())

    def _is_like(self, candidate: Array | None) -> bool:
        """Whether half of the elements are within a tenth: what no rounding of outputs brings about otherwise."""
        if candidate is None or candidate.shape != self.got.shape:
            return False
        size = np.abs(candidate) + np.median(np.abs(self.got))
        return bool(np.mean(np.abs(self.got - candidate) > 0.1 * size) <= 0.5)

    def with_input(self, i: int, other: Array | None) -> list[Array | None]:
        """The inputs, the i-th another."""
        return [*self.inputs[:i], other, *self.inputs[i + 1 :]]

    def again(
        self,
        *,
        saved: bool = False,
        inputs: Sequence[Array | None] | None = None,
        cotangents: Sequence[Array | None] | None = None,
        params: Mapping[str, Any] | None = None,
        op: Op | None = None,
        which: int | None = None,
        outputs: Sequence[Array] | None = None,
    ) -> Array | None:
        """The tensor as it would be with something changed; None where that cannot be computed.

        `saved`: a gradient is computed from outputs rounded to the dtype, as backends keep them. `outputs`: those that
        it is computed from, whatever comes of the inputs.
        """
        if self.got.size + sum(v.size for v in self.inputs if v is not None) > MAX_EVALUATED_ELEMENTS:
            return None
        op = self.op if op is None else op
        inputs = self.inputs if inputs is None else inputs
        cotangents = self.cotangents if cotangents is None else cotangents
        given = self.params if params is None else params
        which = self.which if which is None else which
        try:
            same = op is self.op and inputs is self.inputs and given is self.params
            results: tuple[Any, ...] = self.posed.outputs if same else evaluate_forward(op, inputs, given)
            if self.mode is Mode.GRADIENT:
                if op.vjp is None:
                    return None
                kind = DTYPES[self.case.dtype]
                kept = results if outputs is None else outputs
                kept = [round_to(y, kind) if saved and y.dtype.kind == "f" else y for y in kept]
                results = evaluate_vjp(op, inputs, given, cotangents, kept)
        except Exception:  # a change that the operator rejects, in whatever way, explains nothing
            return None
        if which >= len(results) or results[which] is None:
            return None
        return _take_corner(np.asarray(results[which]), self.got.shape)

    @property
    def stored(self) -> Array:
        """What is expected, infinite where the dtype holds no such number."""
        beyond = np.abs(self.expected) >= DTYPES[self.dtype].max
        return np.where(beyond, np.copysign(np.inf, self.expected), self.expected)

    def from_saved(self) -> WrongTensor | None:
        """The same beside the gradient of outputs that were rounded to 16 bits, where that is another."""
        if self.mode is not Mode.GRADIENT or DTYPES[self.dtype].digits >= 24:
            return None
        saved = self.again(saved=True)
        if saved is None or np.array_equal(saved, self.expected, equal_nan=True):
            return None
        return replace(self, expected=saved)

    def before(self) -> Array | None:
        """The right answer to the call before, which had other data."""
        other = make_question(self.case, self.op, self.mode).decoy_data
        return self.again(inputs=other.inputs, cotangents=other.cotangents)


def list_wrong_tensors(
    posed: Question,
    answer: Outputs,
    judgement: Judgement,
    others: Sequence[WrongTensor] = (),
    *,
    together: bool = False,
) -> list[WrongTensor]:
    """Every tensor of a judgement in which an element is wrong; or all, where elements are wrong `together` alone.

    `others`: what came of the backend in other calls: of the same mode, and values beside gradients.
    """
    tensors = list_all_tensors(posed, answer, judgement, together=together)
    wrong = [w for w in tensors if w.failing.any()]
    which = frozenset(w.which for w in wrong)
    return [replace(w, all_wrong=which, others=(*(v for v in tensors if v is not w), *others)) for w in wrong]


def list_all_tensors(
    posed: Question, answer: Outputs, judgement: Judgement, *, together: bool = False
) -> list[WrongTensor]:
    """Every tensor of a wrong answer, those that are right too."""
    forward_mode = posed.mode is Mode.FORWARD
    names = name_outputs(posed.op, len(answer.arrays)) if forward_mode else list(posed.names)
    tensors = []
    for judged in judgement.tensors:
        which, expected = names.index(judged.name), judged.expected
        floats = expected.values.dtype.kind == "f"
        stale = answer.before[which] if which < len(answer.before) else None
        tensors.append(
            WrongTensor(
                posed=posed,
                which=which,
                what=judged.name if forward_mode else f"the gradient of {judged.name}",
                got=np.asarray(judged.got, dtype=np.float64) if floats else np.asarray(judged.got),
                expected=expected.values,
                scale=expected.scale,
                failing=judged.comparison.units > _FIT_UNITS[1] if together else ~judged.comparison.passed,
                units=judged.comparison.units,
                stale=None if stale is None else np.asarray(stale, dtype=np.float64),
            )
        )
    return tensors


def _take_corner(array: Array, shape: tuple[int, ...]) -> Array | None:
    """`array`, or its leading corner of `shape`: what is left of a larger result in a buffer of the right size."""
    if array.ndim != len(shape) or any(n < m for n, m in zip(array.shape, shape, strict=True)):
        return None
    return array[tuple(slice(n) for n in shape)]


def _is_near(a: Array, b: Array, tolerance: Array, dtype: str) -> NDArray[np.bool_]:
    """Equal within `tolerance`; NaN meets NaN, and an infinity a value beyond the dtype's range."""
    if a.dtype.kind != "f" or b.dtype.kind != "f":
        return np.asarray(a == b)
    largest = DTYPES[dtype].max
    same = (np.abs(a - b) <= tolerance) | (a == b) | (np.isnan(a) & np.isnan(b))
    beyond = (np.abs(b) + tolerance >= largest) & np.isinf(a) & (np.sign(a) == np.sign(b))
    return np.asarray(same | beyond)
