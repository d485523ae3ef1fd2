"""From an answer to a verdict: the reference is evaluated now, after the backend has answered.

A case that a trivial answer would pass is no evidence: all zeros, one constant, a copy of an input of the same shape.
That is no objection where such an answer is right by the operator's nature (reshape copies) or by the shape's (a
softmax over one element is 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.cases._fills.exhaustive import is_part
from opproof.cases._layouts import cotangent_layout, layouts_of
from opproof.core.arrays import Array, has_same_bits
from opproof.core.dtypes import DTYPES, round_to
from opproof.core.tuples import tuple_of
from opproof.core.ulp import WorstUlp, find_worst_ulp
from opproof.core.verdicts import Mode, Verdict
from opproof.harness.judge import alternatives
from opproof.harness.judge.alternatives import of_the_draw, waive_by_alternatives
from opproof.harness.judge.array_statistics import (
    BIAS,
    MIN_DISTINCT_RESULTS,
    NO_STATISTICS,
    ORDINARY_FILLS,
    ArrayStatistics,
    measure_array,
)
from opproof.harness.judge.bound import C, Comparison, compare, make_clearly_wrong_test
from opproof.harness.judge.gradient import ComparedArrays, Rules, by_differences, by_vjp, compare_results
from opproof.harness.judge.outputs import Outputs
from opproof.harness.reference.axes import Axis, axes_of
from opproof.harness.reference.data import to_dtype
from opproof.harness.reference.error_scale import measure_shared_bias
from opproof.harness.reference.expected import evaluate_expected, expected_of
from opproof.harness.reference.question import Expected, Question, make_question, name_outputs
from opproof.reference_ops import Trait
from opproof.reports import StandardVerdict, Ulp, Worst
from opproof.reports.profiles.limits import JudgedCall, JudgedResult, judge_by_standard

__all__ = ["JudgedTensor", "Judgement", "Rules", "describe_element", "judge", "number"]


@dataclass(frozen=True)
class JudgedTensor:
    """One output or gradient beside what is expected of it."""

    name: str
    got: Array
    expected: Expected
    comparison: Comparison
    figures: ArrayStatistics
    dtype: str = ""  # of what came; empty where errors are no ULP, as beside an estimate


@dataclass(frozen=True)
class Judgement:
    """Verdict on one case and mode, before it becomes a record."""

    verdict: Verdict
    message: str = ""
    units: float | None = None  # of the element that has the largest share of its bound
    limit: float | None = None  # how many it may have
    figures: ArrayStatistics = NO_STATISTICS  # of the array whose RMS is the largest
    nonfinite: int = 0  # elements where a number and none meet
    finite_units: float = 0.0  # of the failing elements that are none of these, the largest
    share: float | None = None  # of a failing tensor's elements that are to be finite, how many fail; the largest such
    zeros: bool = False  # nothing but zeros came, and more was expected
    worst: Worst | None = None
    ulp: Ulp | None = None
    standard: StandardVerdict | None = None
    tensors: tuple[JudgedTensor, ...] = ()  # of a wrong answer, for the diagnosis
    left_out: tuple[str, ...] = ()  # outputs that did not come, and need not
    stale: bool = False  # the answer is, bit for bit, that of the call before, which had other data

    def is_well_within(self, share: float) -> bool:
        """Whether no more than a share of what is allowed was used, by an element or an array as a whole."""
        figures = self.figures
        pairs = (self.units, self.limit), (figures.rms, figures.most), (figures.bias and abs(figures.bias), BIAS)
        return all(got is None or most is None or got <= share * most for got, most in pairs)

    def with_places(self, place: Callable[[str, tuple[int, ...]], tuple[int, ...]]) -> Judgement:
        """The same with its elements where they stand in the whole, of which the judged tensors are parts."""
        named = {name: getattr(self, name) for name in ("worst", "ulp", "standard")}
        found = {name: one for name, one in named.items() if one is not None and one.tensor}
        return replace(self, **{n: replace(one, index=place(one.tensor, one.index)) for n, one in found.items()})

    def with_largest(self, others: Sequence[Judgement]) -> Judgement:
        """The same with the largest errors by RMS, in ULP and by a standard that several judgements have."""
        figures = max((j.figures for j in others), key=lambda f: -1.0 if f.rms is None else f.rms)
        ulp = max((j.ulp for j in others if j.ulp is not None), key=lambda u: float(u.size), default=None)
        of_standard = [j.standard for j in others if j.standard is not None]
        standard = max(of_standard, key=lambda s: -1.0 if s.share is None else float(s.share), default=None)
        return replace(self, figures=figures, ulp=ulp, standard=standard)


def judge(
    posed: Question,
    answer: Outputs,
    rules: Rules,
    expected: Sequence[Expected | None] | None = None,
    *,
    whole: bool = True,
) -> Judgement:
    """Judge an answer of the right number, shapes and dtypes.

    `expected` saves the reference's work where many answers to one question are judged. Where not `whole`, nothing is
    asked of the figures of whole arrays.
    """
    unfair = ""
    if posed.op.drawn_from:
        posed, unfair, expected = *of_the_draw(posed, answer), None
    left_out = find_missing(posed, answer)
    if left_out:
        wanted = expected_of(posed, rules.declared) if expected is None else expected
        expected = [None if a is None else e for a, e in zip(answer.arrays, wanted, strict=True)]
    compared = compare_answer(posed, answer, rules, expected)
    if compared.doubt:
        return Judgement(Verdict.INCONCLUSIVE, compared.doubt)
    tensors = _judge_tensors(posed, compared, rules)
    tensors = _allow_shared_bias(posed, tensors, rules.declared) if whole else tensors
    together = of_the_whole(tensors, lambda j: j.figures.fault(rules.rounding)) if whole else ""
    together = together or (_find_wrong_zeros(posed, answer) if rules.signed_zeros else "")
    objection = compared.objection or unfair or together
    failing = [j for j in tensors if not j.comparison.right]
    judgement = make_passing_judgement(tensors, failing)
    if rules.profile:
        judgement = replace(judgement, standard=_judge_by_standard(posed, tensors, rules.profile))
    if left_out:
        judgement = replace(judgement, left_out=left_out)
    if failing or objection:
        verdict = Verdict.WRONG_VALUE if posed.mode is Mode.FORWARD else Verdict.WRONG_GRADIENT
        message = objection or compared.note
        return replace(judgement, verdict=verdict, message=message, tensors=tensors, stale=is_stale(answer))
    if objection := _find_vacuous(posed, compared.expected, rules.declared, given=expected is not None):
        return replace(judgement, verdict=Verdict.VACUOUS, message=objection)
    return replace(judgement, message=compared.note) if compared.note else judgement


def _find_wrong_zeros(posed: Question, answer: Outputs) -> str:
    """Zeros of the other sign than IEEE 754-2019 has, in words; empty where there are none, or it says nothing."""
    if posed.mode is not Mode.FORWARD or not posed.op.facts["SIGNED_ZEROS"]:
        return ""
    for name, got, wanted in zip(name_outputs(posed.op, len(answer.arrays)), answer.arrays, posed.outputs, strict=True):
        if got is None or got.dtype.kind in "iub":
            continue
        zeros = (got == 0) & (wanted == 0)
        wrong = zeros & (np.signbit(got) != np.signbit(wanted))
        if wrong.any():
            at = tuple(int(i) for i in np.argwhere(wrong)[0])
            signs = "+0 in place of -0" if np.signbit(wanted[at]) else "-0 in place of +0"
            count = f"{int(wrong.sum())} of {int(zeros.sum())} zeros of {name}"
            return f"{count} have the wrong sign: {signs} at {at} (IEEE 754-2019)"
    return ""


def find_missing(posed: Question, answer: Outputs) -> tuple[str, ...]:
    """Names of the outputs for which None came."""
    if posed.mode is not Mode.FORWARD or not posed.op.on_request:
        return ()
    names = name_outputs(posed.op, len(answer.arrays))
    return tuple(str(n) for n, a in zip(names, answer.arrays, strict=True) if a is None)


def _find_vacuous(posed: Question, expected: Sequence[Expected | None], declared: str | None, *, given: bool) -> str:
    """See `find_vacuous_answers`; it follows from the question, unless what is expected is `given` from elsewhere."""
    if given:
        return find_vacuous_answers(posed, expected, declared)
    return posed.once(f"vacuous {declared or ''}", lambda: find_vacuous_answers(posed, expected, declared))


def of_the_whole(tensors: Sequence[JudgedTensor], fault: Callable[[JudgedTensor], str]) -> str:
    """What is wrong with an array all elements of which pass, and of several with which; empty where nothing is."""
    for judged in tensors:
        if judged.comparison.right and (objection := fault(judged)):
            return objection if len(tensors) == 1 else f"{judged.name}: {objection}"
    return ""


def _allow_shared_bias(
    posed: Question, tensors: tuple[JudgedTensor, ...], declared: str | None
) -> tuple[JudgedTensor, ...]:
    """The tensors, their bias no fault where noise moves all elements together by as much as one of them.

    A statistic of a whole array is one number, and so is its error, which all elements have. Where there are slices,
    each has a statistic of its own, and a factor that all share is a fault.
    """
    if axes_of(posed.case, posed.op):
        return tensors
    if all(j.figures.factor is None or not j.comparison.right for j in tensors) or posed.op.reference is not None:
        return tensors
    names = [str(n) for n in (posed.names if posed.mode is Mode.GRADIENT else name_outputs(posed.op, len(tensors)))]
    biases = posed.once(f"shared bias {declared or ''}", lambda: measure_shared_bias(posed, declared))
    return tuple(replace(j, figures=j.figures.without_bias(C * biases[names.index(j.name)])) for j in tensors)


def make_passing_judgement(tensors: Sequence[JudgedTensor], failing: Sequence[JudgedTensor]) -> Judgement:
    """A judgement that nothing is wrong, with the numbers of the answer."""
    farthest = max(failing or tensors, key=_largest_share_of, default=None)
    if farthest is None or farthest.comparison.worst is None:
        return Judgement(Verdict.PASS, units=0.0)
    comparison, index = farthest.comparison, farthest.comparison.worst
    units = float(comparison.units[index])
    return Judgement(
        Verdict.PASS,
        units=units,
        limit=float(comparison.limit[index]),
        worst=describe_element(farthest, index) if failing or units > 0 else None,
        ulp=find_largest_ulp((j.name, _find_worst_ulp(j)) for j in tensors),
        figures=max((j.figures for j in tensors), key=lambda f: -1.0 if f.rms is None else f.rms),
        nonfinite=sum(int(np.count_nonzero(_find_nonfinite(j))) for j in failing),
        finite_units=max((_measure_finite_units(j) for j in failing), default=0.0),
        share=max(map(_share, failing), default=0.0),
        zeros=bool(failing) and all(not j.got.any() and j.expected.values.any() for j in failing),
    )


def _judge_by_standard(posed: Question, tensors: Sequence[JudgedTensor], profile: str) -> StandardVerdict:
    """What a standard says of the outputs; none speaks of gradients."""
    op, names = posed.op, map(str, name_outputs(posed.op, len(posed.outputs)))
    if posed.mode is not Mode.FORWARD:
        return judge_by_standard(profile, None, [])
    given = zip((n or op.tensors[i] for i, n in enumerate(posed.names)), posed.inputs, strict=True)
    call = JudgedCall(
        op.name, posed.case.dtype, dict(given), posed.params, lambda *v: tuple_of(op.forward(*v, **posed.params))
    )
    numbers = {name: i for i, name in enumerate(names)}
    results = [JudgedResult(j.name, numbers[j.name], j.got, j.expected.values, j.comparison.passed) for j in tensors]
    return judge_by_standard(profile, call, results)


def _find_worst_ulp(judged: JudgedTensor) -> WorstUlp | None:
    comparison = judged.comparison
    return find_worst_ulp(judged.got, judged.expected.values, judged.dtype, comparison.passed, comparison.bound)


def find_largest_ulp(worst: Iterable[tuple[str, WorstUlp | None]]) -> Ulp | None:
    """The largest error in ULP of some tensors, by their names; None where none is of floats."""
    found = [(name, *one) for name, one in worst if one is not None]
    name, size, index = max(found, key=lambda one: one[1], default=("", 0.0, ()))
    return Ulp(size=number(float(f"{size:.4g}")), tensor=name, index=index) if found else None


def _find_nonfinite(judged: JudgedTensor) -> NDArray[np.bool_]:
    """Elements that fail because one of the two is no finite number."""
    both = _is_finite(judged.got) & _is_finite(judged.expected.values)
    return ~both & ~judged.comparison.passed


def _measure_finite_units(judged: JudgedTensor) -> float:
    """The largest error of the elements that fail though both are finite numbers; inf where no number says how far."""
    mask = ~judged.comparison.passed & ~_find_nonfinite(judged)
    return float(np.max(judged.comparison.units, where=mask, initial=0.0))


def _share(judged: JudgedTensor) -> float:
    """How many fail of the elements that are to be finite; 0 where none is to be."""
    finite = _is_finite(judged.expected.values)
    failing = int(np.count_nonzero(finite & ~judged.comparison.passed))
    return failing / max(1, int(np.count_nonzero(finite)))


def _is_finite(values: Array) -> NDArray[np.bool_]:
    return np.isfinite(values) if values.dtype.kind not in "iub" else np.ones(values.shape, dtype=bool)


def compare_answer(
    posed: Question, answer: Outputs, rules: Rules, expected: Sequence[Expected | None] | None = None
) -> ComparedArrays:
    """Compare every result with what is expected of it, conventions, kinks and flushed zeros allowed for."""
    if posed.mode is Mode.GRADIENT:
        if posed.op.vjp is None and expected is None:
            return by_differences(posed, answer, rules)
        return by_vjp(posed, answer, expected_of(posed, rules.declared) if expected is None else expected, rules)
    expected = expected_of(posed, rules.declared) if expected is None else expected
    arrays = answer.arrays
    if posed.op.settled is not None:
        arrays = list(posed.op.settled(arrays, *posed.inputs, **posed.params))
    comparisons: Sequence[Comparison | None] = compare_results(posed, arrays, expected, rules)
    comparisons = waive_by_alternatives(posed, arrays, expected, comparisons, rules.strict_subnormals)
    return ComparedArrays(
        arrays, expected, alternatives.waive_large_noise(posed, arrays, expected, comparisons, rules.declared)
    )


def _judge_tensors(posed: Question, compared: ComparedArrays, rules: Rules) -> tuple[JudgedTensor, ...]:
    forward = posed.mode is Mode.FORWARD
    names = name_outputs(posed.op, len(compared.arrays)) if forward else posed.names
    by_slice = not forward or rules.declared == "storage"
    by_slice = by_slice and posed.case.fill in ORDINARY_FILLS and Trait.POINTWISE not in posed.op.traits
    axes = axes_of(posed.case, posed.op) if by_slice else ()
    repeated = not {"broadcast", "expanded"}.isdisjoint(
        (*layouts_of(posed.case).values(), cotangent_layout(posed.case))
    )
    saves_few = not forward and _saves_few_numbers(posed)

    estimated = not forward and posed.op.vjp is None

    def measure(i: int, name: str, a: Array, e: Expected, c: Comparison) -> JudgedTensor:
        alone, dtype = _find_independent_axes(axes, name, a), posed.dtype_of(i)
        figures = measure_array(a, e, c, dtype, alone, repeated=repeated, saves_few=saves_few)
        return JudgedTensor(name, a, e, c, figures, "" if estimated else dtype)

    return tuple(
        measure(i, str(n), a, e, c)
        for i, (n, a, e, c) in enumerate(
            zip(names, compared.arrays, compared.expected, compared.comparisons, strict=True)
        )
        if a is not None and e is not None and c is not None
    )


def _saves_few_numbers(posed: Question) -> bool:
    """Whether a pointwise operator's inputs, or results as stored, hold few different numbers: either may be saved."""
    if Trait.POINTWISE not in posed.op.traits:
        return False
    kind = DTYPES[posed.case.dtype]
    stored = (round_to(y, kind) for y in posed.outputs if y.dtype.kind == "f")
    return not (has_many_numbers(posed.inputs) and has_many_numbers(stored))


def has_many_numbers(inputs: Iterable[Array | None]) -> bool:
    """Whether one of some tensors holds so many different numbers that the roundings of each tell of all."""
    floats = (v for v in inputs if v is not None and v.dtype.kind == "f")
    return any(np.unique(np.abs(v)).size >= MIN_DISTINCT_RESULTS for v in floats)


def _find_independent_axes(axes: Sequence[Axis], name: str, array: Array) -> tuple[int, ...]:
    """Along which axes of a gradient its slices are independent."""
    within = (axis.within(name, array.shape) for axis in axes if axis.count_sharing(name, array.shape) == 1)
    return tuple(k for k in within if k is not None)


def _largest_share_of(judged: JudgedTensor) -> float:
    comparison = judged.comparison
    return 0.0 if comparison.worst is None else float(comparison.shares[comparison.worst])


def describe_element(judged: JudgedTensor, index: tuple[int, ...]) -> Worst:
    """What came and what was expected at `index`."""
    return Worst(
        tensor=judged.name,
        index=index,
        got=number(judged.got[index]),
        expected=number(judged.expected.values[index]),
        bound=number(judged.comparison.bound[index]),
    )


def number(value: Any) -> float | str:
    """A JSON number, or nan, inf, -inf as text."""
    x = float(value)
    return x if math.isfinite(x) else str(x)


def is_stale(answer: Outputs) -> bool:
    """Whether the judged call answered exactly what the call before it did: the data, or the call, was ignored."""
    if not answer.before:
        return False
    pairs = [(a, b) for a, b in zip(answer.arrays, answer.before, strict=True) if a is not None and b is not None]
    return any(a.size for a, _ in pairs) and all(has_same_bits(a, b) for a, b in pairs if a.size)


def find_vacuous_answers(posed: Question, expected: Sequence[Expected | None], declared: str | None = None) -> str:
    """Which trivial answer would pass as every one of `expected`, in words; empty when none would.

    `declared` is the backend's lower precision, by which `expected` was found.
    """
    case, mode = posed.case, posed.mode
    shapes = case.shapes.values()
    # Nothing to compute, or one element: there the shape is the evidence, and zeros or a value over poison.
    # A part of every value, on which the operator may be constant, is evidence together with the other parts.
    if is_part(case.fill) or any(0 in s for s in shapes) or all(e.values.size == 1 for e in expected if e is not None):
        return ""
    objections = _find_passing(posed, expected, (*posed.inputs, *posed.cotangents)) - posed.op.trivial(mode)
    if objections and any(1 in s or s == () for s in shapes):
        right = set().union(*(_by_shape(posed, declared, seed) for seed in (1, 2, 3)))
        objections -= right | ({"copy"} if "constant" in right else set())  # a constant that an input is near, no copy
    return f"{min(objections)} would pass as well" if objections else ""


def _find_passing(posed: Question, expected: Sequence[Expected | None], given: Iterable[Array | None]) -> set[str]:
    tensors = [v for v in given if v is not None]
    passing: set[str] | None = None
    for i, e in enumerate(expected):
        if e is not None:
            dtype = posed.dtype_of(i)
            far = make_clearly_wrong_test(e, dtype)
            names = {kind for kind, answer in _make_trivial_answers(e, tensors) if _passes(dtype, e, answer, far)}
            passing = names if passing is None else passing & names
    return passing if passing is not None else set()


def _by_shape(posed: Question, declared: str | None, seed: int) -> set[str]:
    """Trivial answers that pass on ordinary data of the same shapes too, drawn `seed` seeds further on."""
    if posed.mode is Mode.GRADIENT and posed.op.vjp is None:
        return set()
    plain = replace(posed.case, fill="normal", seed=posed.case.seed + seed)
    again = make_question(plain, posed.op, posed.mode).case_data.given(together=posed.together)  # in as much memory
    return _find_passing(again, evaluate_expected(again, declared), (*again.inputs, *again.cotangents))


def _make_trivial_answers(expected: Expected, tensors: Sequence[Array]) -> Iterator[tuple[str, Array]]:
    """By kind, trivial answers: of the expected shape, or one number for all elements."""
    shape = expected.values.shape
    yield "zeros", np.zeros(())
    if expected.values.size > 1:
        yield "constant", np.array(expected.values.flat[0])
    for v in tensors:
        if v.size > 1 and v.shape == shape and not (v.dtype.kind == "f" and expected.values.dtype.kind in "iu"):
            yield "copy", v  # one number that is near another is none; nor are floats, truncated to integers


def _passes(dtype: str, expected: Expected, answer: Array, far: Callable[[Array], bool]) -> bool:
    with np.errstate(all="ignore"):
        got = to_dtype(answer.astype(expected.values.dtype), dtype)
    return not far(got) and compare(np.broadcast_to(got, expected.values.shape), expected, dtype).right
