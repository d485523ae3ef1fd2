"""Outputs and gradients of a reply compared with the truth, and whether anything but the right answer would pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, round_to
from opproof.core.verdicts import FAILED, WRONG, Mode, Verdict
from opproof.harness.check.call.exchange import Reply, ReplyTensor, are_alike
from opproof.harness.check.call.reference_reply import ReferenceReply, list_kinds
from opproof.harness.check.judge.outcome import PassedVariant
from opproof.harness.check.tensors import is_float8, kind_of
from opproof.harness.judge import bound
from opproof.harness.judge.array_statistics import measure_array
from opproof.harness.judge.bound import C, Comparison, floor_of, is_clearly_wrong
from opproof.harness.judge.gradient import compare_equal_slices
from opproof.harness.judge.judgement import JudgedTensor, Judgement, make_passing_judgement, of_the_whole
from opproof.harness.reference.array_bias import MIN_WHOLE_VALUES
from opproof.harness.reference.question import Expected
from opproof.harness.reference.torch.evaluate import Truth


def judge(asked: ReferenceReply, known: Truth, reply: Reply) -> dict[Mode, Judgement]:
    """Both modes, or the forward alone where no gradients were asked for."""
    judgements = {Mode.FORWARD: judge_outputs(asked, known, reply)}
    if asked.request.cotangents:
        judgements[Mode.GRADIENT] = judge_gradients(asked, known, reply)
    return judgements


def fails(judgements: Mapping[Mode, Judgement]) -> bool:
    """Whether a value or a gradient is wrong."""
    return any(j.verdict in WRONG for j in judgements.values())


def judge_outputs(asked: ReferenceReply, known: Truth, reply: Reply) -> Judgement:
    """The outputs, each within its bound and all together."""
    left = known.open[: len(known.outputs)] or [None] * len(known.outputs)
    slices = _count_equal_slices(asked)
    found = [
        _judge_array(name, y.values, e, kind_of(w.dtype), o, slices)
        for name, y, e, w, o in zip(asked.names, reply.outputs, known.outputs, asked.outputs, left, strict=True)
    ]
    return _make_judgement(found, [kind_of(w.dtype) for w in asked.outputs], asked, Verdict.WRONG_VALUE)


def judge_gradients(asked: ReferenceReply, known: Truth, reply: Reply) -> Judgement:
    """The gradients of the tensors that need one; what came in their place else."""
    if reply.failed:
        return Judgement(Verdict.ERROR, reply.failed)
    if reply.declined:
        return Judgement(Verdict.UNSUPPORTED, reply.declined)
    if objection := find_misgiven_gradient(asked, reply):
        return objection
    found, of = [], []
    request, slices = asked.request, _count_equal_slices(asked)
    given = zip(request.tensors, list_kinds(request.tensors), strict=True)
    for (t, kind), e, d, need in zip(given, known.gradients, reply.gradients, request.needs, strict=True):
        if not need or e is None:
            continue
        if d is None and e.values.any():
            return Judgement(Verdict.WRONG_GRADIENT, _describe_absent_gradient(t.name))
        if d is not None and d.values.shape != e.values.shape:
            text = f"the gradient of {t.name} has shape {d.values.shape}: expected {e.values.shape}"
            return Judgement(Verdict.WRONG_SHAPE, text)
        got = np.zeros(e.values.shape) if d is None else d.values
        # Of equal elements at_kinks decides.
        found.append(_judge_array(t.name, got, e, kind, None, slices))
        of.append(kind)
    return _make_judgement(found, of, asked, Verdict.WRONG_GRADIENT)


def _describe_absent_gradient(name: str) -> str:
    return (
        f"{name} has no gradient: None came, and the reference's is not 0; where {name} is meant as a constant, "
        f"write {name}.detach() in the reference, or say grads={{{name!r}: None}}"
    )


def _count_equal_slices(asked: ReferenceReply) -> int:
    """How many slices of an input are one, so that errors repeat; 1 where all are of their own."""
    return max((t.shape[0] for t in asked.request.tensors if t.layout == "broadcast" and t.shape), default=1)


def _judge_array(name: str, got: Array, expected: Expected, kind: str, left: Array | None, slices: int) -> JudgedTensor:
    comparison = compare_equal_slices(slices, expected, lambda e: None if e is None else compare(got, e, kind or "f32"))
    assert comparison is not None
    if left is not None:
        comparison = comparison.with_waived(left & ~comparison.passed)
    whole = measure_array(got, expected, comparison, kind or "f32", repeated=slices > 1)
    if whole.rms is not None and whole.rms > whole.most and not clear_of_rows(comparison.signed, whole.most):
        whole = replace(whole, most=whole.rms)
    return JudgedTensor(name, got, expected, comparison, whole, kind)


def _make_judgement(
    found: Sequence[JudgedTensor], of: Sequence[str], asked: ReferenceReply, wrong: Verdict
) -> Judgement:
    failing = [j for j in found if not j.comparison.right]
    judgement = make_passing_judgement(found, failing)
    objection = of_the_whole(found, lambda j: j.figures.fault(declarable=False))
    if failing or objection:
        return replace(judgement, verdict=wrong, message=objection, tensors=tuple(found))
    given = [t.values for t in asked.request.tensors] + [g for g in asked.request.cotangents if g is not None]
    if doubt := explain_vacuity(found, of, given, gradient=wrong is Verdict.WRONG_GRADIENT):
        return replace(judgement, verdict=Verdict.VACUOUS, message=doubt)
    return judgement


def find_misgiven_gradient(asked: ReferenceReply, reply: Reply) -> Judgement | None:
    """A gradient has its input's dtype, and what requires grad in the reference does in the candidate."""
    if any(y.differentiable for y in reply.outputs):  # a vjp that was given needs none
        for i, (y, w) in enumerate(zip(reply.outputs, asked.reply.outputs, strict=False)):
            if w.differentiable and not y.differentiable:
                text = f"y{i} does not require grad, which the reference's does: its gradient is lost"
                return Judgement(Verdict.WRONG_GRADIENT, text)
    if reply.written >= 0:
        text = f"the gradient that comes in for y{reply.written} was written over: others may hold the same memory"
        text += ", as that of x in x + f(x); if that is the contract, say overwrites=('grad',)"
        return Judgement(Verdict.INPUT_CHANGED, text)
    for t, d in zip(asked.request.tensors, reply.gradients, strict=True):
        if d is not None and d.dtype != t.dtype:
            return Judgement(Verdict.WRONG_DTYPE, f"the gradient of {t.name} has dtype {d.dtype}: expected {t.dtype}")
    return None


#: Fills of variants whose data are usual: other seeds draw what is given.
_USUAL_FILLS = ("normal", "draw")


def find_shared_error(passed: Sequence[PassedVariant]) -> tuple[Mode, Judgement] | None:
    """What is wrong with results of few numbers in all variants together, each of them within its bound.

    An array that is too small to be judged as a whole, a loss, gives its largest number. Independent errors have both
    signs, and few are large: a loss that is 5 % too large in bfloat16 is within every bound, and is so in all.
    """
    pooled: dict[tuple[Mode, str, str], list[tuple[float, float, float, float]]] = {}
    for one in passed:
        if one.variant.fill.startswith(_USUAL_FILLS):
            for mode, name, kind, got, e in _iter_results(one):
                if 0 < e.values.size < MIN_WHOLE_VALUES and kind in DTYPES and not e.exact:
                    at = int(np.argmax(np.abs(e.values)))
                    numbers = (got.flat[at], e.values.flat[at], e.scale.flat[at], e.stored or 0.0)
                    pooled.setdefault((mode, name, kind), []).append(numbers)
    for (mode, name, kind), rows in pooled.items():
        got, values, scale, stored = np.array(rows).T
        expected = Expected(values, scale, stored=stored.max() or None)
        if text := measure_array(got, expected, compare(got, expected, kind), kind).objection:
            verdict = Verdict.WRONG_VALUE if mode is Mode.FORWARD else Verdict.WRONG_GRADIENT
            what = f"the gradient of {name}" if mode is Mode.GRADIENT else name
            return mode, Judgement(verdict, f"{what} in {len(rows)} variants: {text}")
    return None


def _iter_results(one: PassedVariant) -> Iterator[tuple[Mode, str, str, Array, Expected]]:
    """Outputs and gradients with names, dtypes and what is expected of them."""
    tensors = one.asked.request.tensors
    for name, y, e in zip(one.asked.names, one.reply.outputs, one.truth.outputs, strict=True):
        yield Mode.FORWARD, name, kind_of(y.dtype), y.values, e
    for t, d, wanted in zip(tensors, one.reply.gradients, one.truth.gradients, strict=False):
        if d is not None and wanted is not None:
            yield Mode.GRADIENT, t.name, kind_of(d.dtype), d.values, wanted


#: Standard errors by which the mean of the rows' squares has to lie above what is allowed.
_MIN_STANDARD_ERRORS = 2.0
#: Rows of which something can be told.
_MIN_ROWS = 8
#: And of which each is one error throughout: so many, whose elements part by no more than this part of it.
_MIN_UNIFORM_ROWS = 2
_MAX_SPREAD_SHARE = 0.1


def clear_of_rows(signed: Array, most: float) -> bool:
    """Whether the mean square of units, NaN where one does not count, is clearly above that of `most`, by rows.

    True where there are no rows to tell it by.
    """
    if signed.ndim < 2 or not signed.size:
        return True
    units = signed.reshape(-1, signed.shape[-1])
    units = units[np.isfinite(units).any(-1)]
    rows = np.nanmean(np.square(units), -1)
    uniform = bool(np.all(np.nanstd(units, -1) <= _MAX_SPREAD_SHARE * np.sqrt(rows)))  # as what one weight multiplies
    if len(rows) < _MIN_ROWS and (len(rows) < _MIN_UNIFORM_ROWS or not uniform):
        return True
    return bool(rows.mean() - _MIN_STANDARD_ERRORS * rows.std(ddof=1) / np.sqrt(len(rows)) > most * most)


def _find_subnormals(got: Array, expected: Expected, kind: str) -> Array:
    """Which elements round and are subnormal, as the truth is; none of f16."""
    if expected.values.dtype.kind != "f" or kind == "f16" or DTYPES[kind].whole:
        return np.zeros(expected.values.shape, dtype=bool)
    tiny = DTYPES[kind].tiny
    return np.asarray((expected.scale > 0) & (np.abs(expected.values) < tiny) & (np.abs(got) < tiny))


def compare(got: Array, expected: Expected, kind: str) -> Comparison:
    """`bound.compare`; in 8 bits what passes lies between what the two ends of the roundoff are stored as.

    For a subnormal truth any subnormal passes: of a sum some terms may be flushed. Not
    in f16, whose subnormal numbers float32 holds.
    """
    comparison = bound.compare(got, expected, kind)
    if kind not in DTYPES or expected.exact:
        return comparison
    if not is_float8(kind):
        return comparison if comparison.right else comparison.with_waived(_find_subnormals(got, expected, kind))
    dtype = DTYPES[kind]
    with np.errstate(all="ignore"):
        off = C * dtype.u * expected.scale + floor_of(DTYPES["f32"])
        low, high = round_to(expected.values - off, dtype), round_to(expected.values + off, dtype)
        value = np.asarray(got, dtype=np.float64)
        wrong = comparison.passed & ((value < low) | (value > high))
        allowed = np.maximum(high - expected.values, expected.values - low)
    over = np.maximum(comparison.units, np.nextafter(comparison.limit, np.inf))
    return replace(
        comparison,
        passed=comparison.passed & ~wrong,
        units=np.where(wrong, over, comparison.units),
        bound=np.where(np.isfinite(allowed), allowed, comparison.bound),
    )


#: An answer wrong by this factor must not pass: bounds that let it are too wide to tell anything.
WRONG_FACTOR = 1.02
#: Relative to what float64 was computed from, a difference that is none.
_MAX_EQUAL_SHARE = 2.0**-40


def explain_vacuity(
    found: Sequence[JudgedTensor],
    kinds: Sequence[str],
    given: Sequence[Array],
    *,
    gradient: bool,
    passes: Callable[[Array, JudgedTensor, str], bool] | None = None,
    factor: float = WRONG_FACTOR,
) -> str:
    """Why an array that passed proves nothing; empty where all do.

    `passes`: whether an answer would be right in the place of an array of a dtype; by its bound where it is left out.
    """
    passes = passes or (lambda answer, judged, kind: _passes(answer, judged.expected, kind))
    for judged, kind in zip(found, kinds, strict=True):
        e = judged.expected
        if (e.values.size <= 1 and e.values.any()) or not kind or (gradient and _is_zero(e)):
            continue
        what = f"the gradient of {judged.name}" if gradient else judged.name
        if not np.isfinite(e.values).any():
            return f"{what} holds no finite number"
        for name, answer in _make_trivial_answers(e, given, factor):
            if gradient and _is_same(answer, e):  # of what is added as it is, the right answer is what comes in
                continue
            if passes(answer, judged, kind):
                return f"{name} would pass as {what} too"
    return ""


def _is_zero(e: Expected) -> bool:
    """Whether nothing is left of a gradient but roundings of float64, as of a bias whose mean is taken off again."""
    return bool(np.all(np.abs(e.values) <= _MAX_EQUAL_SHARE * np.max(e.scale, initial=0.0)))


def _is_same(answer: Array, e: Expected) -> bool:
    with np.errstate(all="ignore"):
        same = np.abs(answer - e.values) <= _MAX_EQUAL_SHARE * np.abs(e.values)
    return bool(e.values.any() and np.all(same | (answer == e.values)))


def _make_trivial_answers(e: Expected, given: Sequence[Array], factor: float) -> Iterator[tuple[str, Array]]:
    yield "zeros", np.zeros(e.values.shape)
    yield "a constant", np.full(e.values.shape, e.values.flat[0])
    if np.isfinite(e.values).all() and e.values.any() and not e.exact and e.scale.any():
        yield f"{factor:g} times it", e.values * factor
    for v in given:
        if v.shape == e.values.shape and v.dtype.kind == "f" and e.scale.any():
            yield "a copy of an input", v


def _passes(answer: Array, e: Expected, kind: str) -> bool:
    with np.errstate(all="ignore"):
        got = np.asarray(round_to(answer, DTYPES[kind]))
    if is_clearly_wrong(got, e, kind):
        return False
    comparison = compare(got, e, kind)
    return comparison.right and not measure_array(got, e, comparison, kind).objection


def find_off_answers(one: PassedVariant, reply: Reply) -> Iterator[tuple[Mode, Judgement]]:
    """What is wrong with the outputs of a reply, and with its gradients if it has any."""
    if _is_settled(one, Mode.FORWARD) and not are_alike(reply.outputs, one.reply.outputs):
        shapes = [[(y.values.shape, y.dtype) for y in some] for some in (reply.outputs, one.reply.outputs)]
        if shapes[0] != shapes[1]:
            yield Mode.FORWARD, Judgement(Verdict.WRONG_SHAPE, "an output has another shape or dtype")
            return
        judgement = judge_outputs(one.asked, one.truth, reply)
        if judgement.verdict in FAILED and judge_outputs(one.asked, make_own_truth(one), reply).verdict in FAILED:
            yield Mode.FORWARD, judgement
    if _is_settled(one, Mode.GRADIENT) and reply.gradients and not are_alike(reply.gradients, one.reply.gradients):
        judgement = judge_gradients(one.asked, one.truth, reply)
        if judgement.verdict in FAILED and judge_gradients(one.asked, make_own_truth(one), reply).verdict in FAILED:
            yield Mode.GRADIENT, judgement


def _is_settled(one: PassedVariant, mode: Mode) -> bool:
    """Whether it was found right in a mode: where nothing could be said of it, nothing can of another answer."""
    return mode in one.judgements and one.judgements[mode].verdict in (Verdict.PASS, Verdict.VACUOUS)


def make_own_truth(one: PassedVariant) -> Truth:
    """The truth of a variant that was judged, with the first answer in the place of what is expected."""
    outputs = tuple(_with(e, y) for e, y in zip(one.truth.outputs, one.reply.outputs, strict=True))
    gradients = (
        None if e is None else _with(e, d)
        for e, d in zip(one.truth.gradients, one.reply.gradients or one.truth.gradients, strict=True)
    )
    return replace(one.truth, outputs=outputs, gradients=tuple(gradients))


def _with(expected: Expected, answer: ReplyTensor | Expected | None) -> Expected:
    return expected if answer is None else replace(expected, values=answer.values)
