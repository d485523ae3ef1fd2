"""What is as right as the reference's answer: flushed zeros unless they are forbidden, and declared conventions."""

from dataclasses import replace

import numpy as np
import pytest
from _ask import judged

from opproof.cases import Case, cases_of
from opproof.core.dtypes import DTYPES
from opproof.core.tuples import tuple_of
from opproof.core.verdicts import Mode
from opproof.harness.judge.alternatives import in_any_order
from opproof.harness.judge.bound import compare
from opproof.harness.judge.chunk_screen import Screen
from opproof.harness.judge.judgement import Rules, judge
from opproof.harness.judge.outputs import Outputs
from opproof.harness.reference import question
from opproof.harness.reference.expected import expected_of
from opproof.harness.reference.question import Expected, make_question
from opproof.reference_ops import load, names

NAN, INF = float("nan"), float("inf")
TINY = DTYPES["f32"].tiny
BF16 = DTYPES["bf16"].numpy.type


def answered(text, inputs, *outputs, strict=False):
    """The judgement of `outputs` for a case whose data are `inputs`."""
    case = Case.parse(text)
    kind = DTYPES[case.dtype].numpy
    posed = make_question(case, load(case.op), Mode.FORWARD).case_data.given(inputs=tuple(map(np.asarray, inputs)))
    stored = [np.asarray(y).astype(kind if np.asarray(y).dtype.kind == "f" else np.int64) for y in outputs]
    return judge(posed, Outputs(stored), Rules(strict_subnormals=strict)).verdict


def test_inputs_below_the_normal_range_may_be_taken_for_zero():
    x = np.array([[TINY / 4, 1.0, -TINY / 8]])
    read, zeros = 1e37 * x, np.array([[0.0, 1e37, 0.0]])
    for got, strict, verdict in [
        (read, False, "PASS"),
        (zeros, False, "PASS"),
        (zeros, True, "WRONG_VALUE"),
        (np.array([[0.0, 0.0, 0.0]]), False, "WRONG_VALUE"),
        (2 * read, False, "WRONG_VALUE"),
    ]:
        assert answered("scale[x=1x3;s=1e37;f32]", [x], got, strict=strict) == verdict


def test_a_result_on_the_way_may_be_taken_for_zero():
    """logsumexp of numbers far from the largest: their exponentials are subnormal."""
    case = Case.parse("logsumexp[x=33x3;dim=-1;f32;fill=extreme;seed=5]")
    posed = make_question(case, load("logsumexp"), Mode.GRADIENT).case_data
    ways = list(question.evaluate_flushed(posed))
    assert ways
    for way in ways:
        answer = Outputs([None if d is None else np.asarray(d).astype(np.float32) for d in way])
        assert judge(posed, answer, Rules()).verdict == "PASS"


class Flushed:
    """Attention whose subnormal weights are zero, and nothing else is; times `size` where it is small."""

    name = "flushed"

    def __init__(self, size=1.0):
        self.size = size

    def forward(self, op, inputs, params):
        raise NotImplementedError

    def vjp(self, op, inputs, params, cotangents, needs):
        (q, k, v), (g,) = (x.astype(np.float64) for x in inputs[:3]), [c.astype(np.float64) for c in cotangents]
        k, v = (np.repeat(x, 2, axis=1) for x in (k, v))
        scores = q @ np.swapaxes(k, -1, -2) / 4
        p = np.exp(scores - scores.max(-1, keepdims=True))
        p = np.where(p < TINY, 0, p) / p.sum(-1, keepdims=True)
        dp = g @ np.swapaxes(v, -1, -2)
        ds = p * (dp - (p * dp).sum(-1, keepdims=True)) / 4
        made = [ds @ k, _paired(np.swapaxes(ds, -1, -2) @ q), _paired(np.swapaxes(p, -1, -2) @ g)]
        small = [np.abs(d) < 1000 * TINY for d in made]
        wrong = [np.where(s, self.size * d, d).astype(np.float32) for s, d in zip(small, made, strict=True)]
        return [*wrong, None, None, None]


def _paired(d):
    return d.reshape(d.shape[0], 2, 2, *d.shape[2:]).sum(2)


AGREED = "scaled_dot_product_attention[query=2x4x3x16;key=2x2x37x16;value=2x2x37x16;enable_gqa=true;f32;fill=agreed"


@pytest.mark.parametrize("seed", ["]", ";seed=3]"])
def test_some_of_what_is_on_the_way_may_be_taken_for_zero(seed):
    case = AGREED + seed
    assert judged(Flushed(), case, "gradient").verdict == "PASS"
    assert judged(Flushed(), case, "gradient", strict_subnormals=True).verdict == "WRONG_GRADIENT"
    assert judged(Flushed(100.0), case, "gradient").verdict == "WRONG_GRADIENT"


def test_sums_next_to_nothing_are_off_by_no_more_than_their_terms():
    """Of two terms of some hundred of the smallest normal numbers none is flushed to make them ten of those off."""
    x = np.array([[500 * TINY, TINY], [2.0, 3.0], [-0.5, 0.25]])
    for off, verdict in [(0, "PASS"), (10, "WRONG_VALUE"), (100, "WRONG_VALUE")]:
        assert answered("sum[x=3x2;dim=-1;f32]", [x], [(501 + off) * TINY, 5.0, -0.25]) == verdict


def test_what_is_left_of_a_number_below_the_normal_range():
    """Of mish's derivative, e^x (1 + x), a term or both may be flushed: no more comes than the truth."""
    x = np.array([[0.5 * TINY, 0.5, -0.5 * TINY]])
    for part, strict, verdict in [
        (0.6, False, "PASS"),
        (-0.1, False, "PASS"),
        (0.6, True, "WRONG_VALUE"),
        (4.0, False, "WRONG_VALUE"),
    ]:
        y = [[part * 0.5 * TINY, np.arcsin(0.5), -0.5 * TINY]]
        assert answered("asin[x=1x3;f32]", [x], y, strict=strict) == verdict


class Bf16:
    """A reference in float32 whose results are stored in bf16; subnormals may be flushed."""

    name = "bf16"

    def __init__(self, op, *, flushes):
        self.op, self.flushes = load(op), flushes

    def store(self, y):
        stored = np.asarray(y).astype(BF16)
        small = np.abs(stored.astype(np.float64)) < DTYPES["bf16"].tiny
        return np.where(self.flushes & small, np.copysign(BF16(0), stored), stored)

    def forward(self, op, inputs, params):
        with np.errstate(all="ignore"):
            return [self.store(y) for y in tuple_of(self.op.forward(*self.wide(inputs), **params))]

    def vjp(self, op, inputs, params, cotangents, needs):
        with np.errstate(all="ignore"):
            saved = self.wide(self.forward(op, inputs, params))
            made = self.op.vjp(*self.wide(cotangents), *saved, *self.wide(inputs), **params)
            return [self.store(d) for d in tuple_of(made)]

    @staticmethod
    def wide(arrays):
        return [a.astype(np.float32) if a.dtype == BF16 else a for a in arrays]


@pytest.mark.parametrize("flushes", [False, True], ids=["kept", "flushed"])
@pytest.mark.parametrize(
    ("case", "mode"),
    [
        ("celu[x=65536,;bf16;fill=every]", "forward"),  # it flushes 127 numbers
        ("exp[x=65536,;bf16;fill=every]", "gradient"),
        ("silu[x=65536,;bf16;fill=every]", "forward"),  # of which there is a convention, at infinity
        ("silu[x=65536,;bf16;fill=every]", "gradient"),
    ],
)
def test_of_bf16_nothing_is_flushed_where_that_is_forbidden(case, mode, flushes):
    backend = Bf16(case.partition("[")[0], flushes=flushes)
    assert judged(backend, case, mode).verdict == "PASS"
    wrong = "WRONG_VALUE" if mode == "forward" else "WRONG_GRADIENT"
    assert judged(backend, case, mode, strict_subnormals=True).verdict == (wrong if flushes else "PASS")


def test_equal_elements_in_another_order_are_not_flushed_where_that_is_forbidden():
    want = Expected(np.array([TINY / 2, 1.0, 2.0]), np.zeros(3))
    got, groups = np.array([0.0, 2.0, 1.0], dtype=np.float32), np.array([0, 1, 1])
    for strict in (False, True):
        plain = compare(got, want, "f32", strict_subnormals=strict)
        assert in_any_order(got, want, groups, plain, "f32", strict_subnormals=strict)[0].right is not strict


@pytest.mark.parametrize("strict", [False, True])
def test_a_large_tensor_is_screened_by_the_same_rule(strict):
    screen, values = Screen("bf16", strict), np.array([DTYPES["bf16"].tiny / 2, 1.0])
    want = Expected(values, np.zeros(2), faithful=True)
    screen.add(np.array([0.0, 1.0]).astype(BF16), want, want, at=(0,))
    assert screen.suspects == strict


def test_a_flushed_zero_has_the_sign_of_the_number():
    x = np.array([[TINY / 8, 1.0, -TINY / 8]])
    for got, verdict in [([[INF, 1.0, -INF]], "PASS"), ([[INF, 1.0, INF]], "WRONG_VALUE")]:
        assert answered("reciprocal[x=1x3;f32]", [x], got) == verdict


def test_what_is_flushed_in_part_is_no_error_of_the_whole():
    """A subnormal for a number just above it passes, and is millions of its own roundings away."""
    x = np.full((4, 128), 1.5 * TINY)
    comparison = compare(0.9 * x / 1.5, Expected(x, np.full(x.shape, 1e-50)), "f32")
    assert comparison.right
    assert np.isnan(comparison.signed).all()
    strict = compare(0.9 * x / 1.5, Expected(x, np.full(x.shape, 1e-50)), "f32", strict_subnormals=True)
    assert not strict.right


def test_zero_for_a_number_of_which_a_part_was_flushed():
    """asin(x) as 2 atan(x / 2): half of the smallest normal numbers is below their range, that of others is not."""
    x = np.array([[1.5 * TINY, 0.5, -1.9 * TINY]])
    for y, strict, verdict in [
        ([[0.0, np.arcsin(0.5), 0.0]], False, "PASS"),
        ([[0.0, np.arcsin(0.5), 0.0]], True, "WRONG_VALUE"),
        ([[TINY, np.arcsin(0.5), -1.9 * TINY]], False, "WRONG_VALUE"),
    ]:
        assert answered("asin[x=1x3;f32]", [x], y, strict=strict) == verdict
    assert answered("asin[x=1x3;f32]", [x * [4, 1, 4]], [[0.0, np.arcsin(0.5), 0.0]]) == "WRONG_VALUE"
    assert (
        answered("asin[x=1x3;f16]", [[[1.5 * DTYPES["f16"].tiny, 0.5, 0.0]]], [[0.0, np.arcsin(0.5), 0.0]])
        == "WRONG_VALUE"
    )


def test_flushing_and_another_convention_in_one_answer():
    x = np.array([[NAN, -TINY / 4, 3.0, NAN]])
    for y, verdict in [
        ([[NAN, 0.0, 1.0, NAN]], "PASS"),
        ([[0.0, 0.0, 1.0, 0.0]], "PASS"),
        ([[NAN, 0.0, 1.0, 0.0]], "WRONG_VALUE"),  # two conventions
    ]:
        assert answered("sign[x=1x4;f32]", [x], y) == verdict


def test_flushing_is_not_asked_of_what_passes(monkeypatch):
    monkeypatch.setattr(question, "evaluate_flushed", lambda posed: pytest.fail("nothing failed"))
    x = np.array([[0.5, 1.0, 2.0]])
    assert answered("scale[x=1x3;s=3.0;f32]", [x], 3 * x) == "PASS"


CONVENTIONS = [
    ("threshold[x=3,;threshold=0.5;value=-7.0;f32]", [[NAN, 1.0, 0.0]], [[NAN, 1.0, -7.0]], [[-7.0, 1.0, -7.0]]),
    ("step[x=3,;f32]", [[NAN, -2.0, 3.0]], [[0.0, 0.0, 1.0]], [[NAN, 0.0, 1.0]]),
    ("sign[x=3,;f32]", [[NAN, -2.0, 3.0]], [[0.0, -1.0, 1.0]], [[NAN, -1.0, 1.0]]),
    ("floor_divide[a=2,;b=2,;f32]", [[-INF, 7.0], [2.0, 2.0]], [[NAN, 3.0]], [[-INF, 3.0]]),
    ("argmax[x=2x3;dim=-1;f32]", [[[1.0, NAN, 3.0], [5.0, 4.0, 6.0]]], [[1, 2]], [[2, 2]]),
    ("argmin[x=2x3;dim=-1;f32]", [[[1.0, NAN, 3.0], [5.0, 7.0, 4.0]]], [[1, 2]], [[0, 2]]),
    ("argsort[x=1x4;dim=-1;f32]", [[[3.0, NAN, 1.0, 2.0]]], [[[2, 3, 0, 1]]], [[[1, 2, 3, 0]]]),
    ("softmax[x=2x2;dim=-1;f32]", [[[-INF, -INF], [0.0, 0.0]]], [[[NAN, NAN], [0.5, 0.5]]], [[[0, 0], [0.5, 0.5]]]),
    ("var[x=2x3;dim=-1;f32]", [[[1.0, INF, 2.0], [1.0, 2.0, 3.0]]], [[NAN, 1.0]], [[INF, 1.0]]),
    ("std[x=2x3;dim=-1;f32]", [[[1.0, -INF, 2.0], [1.0, 2.0, 3.0]]], [[NAN, 1.0]], [[INF, 1.0]]),
    ("lgamma[x=3,;f32]", [[-INF, INF, 3.0]], [[INF, INF, np.log(2)]], [[-INF, INF, np.log(2)]]),
    ("logsumexp[x=2x2;dim=-1;f32]", [[[-INF, -INF], [0.0, -INF]]], [[-INF, 0.0]], [[NAN, 0.0]]),
    ("logsumexp[x=2x2;dim=-1;f32]", [[[INF, 1.0], [0.0, -INF]]], [[INF, 0.0]], [[NAN, 0.0]]),
    ("prelu[x=1x3;weight=3,;f32]", [[[0.0, 0.0, -2.0]], [INF, NAN, 0.5]], [[[NAN, NAN, -1.0]]], [[[0.0, 0.0, -1.0]]]),
    (
        "bce_with_logits[x=2,;target=2,;reduction=none;f32]",
        [[INF, 0.0], [1.0, 0.0]],
        [[0.0, np.log(2)]],
        [[NAN, np.log(2)]],
    ),
]


@pytest.mark.parametrize(("text", "inputs", "one", "other"), CONVENTIONS, ids=lambda v: v if isinstance(v, str) else "")
def test_a_declared_convention_passes(text, inputs, one, other):
    one, other = (list(map(np.asarray, some)) for some in (one, other))
    assert answered(text, inputs, *one) == "PASS"
    assert answered(text, inputs, *other) == "PASS"


@pytest.mark.parametrize(("text", "inputs", "one", "other"), CONVENTIONS, ids=lambda v: v if isinstance(v, str) else "")
def test_and_nothing_else(text, inputs, one, other):
    """An answer that is wrong beside the place where definitions differ, under either convention."""
    for values in (one, other):
        wrong = np.array(values[0])
        wrong.flat[-1] += 1
        assert answered(text, inputs, wrong) == "WRONG_VALUE"


def test_a_convention_is_one_for_the_whole_array():
    """ggml's argsort(3, nan, 1, 2) puts 1, 3, nan, 2: no convention at all."""
    assert answered("argsort[x=1x4;dim=-1;f32]", [[[3.0, NAN, 1.0, 2.0]]], np.array([[2, 0, 1, 3]])) == "WRONG_VALUE"
    rows = [[[3.0, NAN, 1.0], [3.0, NAN, 1.0]]]
    assert answered("argsort[x=2x3;dim=-1;f32]", rows, np.array([[2, 0, 1], [1, 2, 0]])) == "WRONG_VALUE"


def test_where_they_are_apart_elements_follow_their_own():
    rows = [[[1.0, INF, 2.0], [1.0, 2.0, INF], [1.0, 2.0, 3.0], [1.0, INF, NAN]]]
    for y, verdict in [
        ([NAN, INF, 1.0, NAN], "PASS"),  # merged in pairs, by the place of the infinity
        ([INF, INF, 1.0, NAN], "PASS"),
        ([-INF, INF, 1.0, NAN], "WRONG_VALUE"),
        ([1.0, INF, 1.0, NAN], "WRONG_VALUE"),
        ([INF, INF, INF, NAN], "WRONG_VALUE"),  # of numbers there is one variance
        ([INF, INF, 1.0, INF], "WRONG_VALUE"),  # and of NaN
    ]:
        assert answered("var[x=4x3;dim=-1;f32]", rows, np.array(y)) == verdict, y


def test_running_moments_of_infinities():
    """By Welford's updates a mean is NaN after an infinity that is not the last."""
    x, zeros = [[1.0, INF, 2.0, NAN], [INF, 2.0, 4.0, INF]], np.zeros(4)
    y = np.array([[NAN, NAN, -1.0, NAN], [NAN, NAN, 1.0, NAN]])
    for mean, var, verdict in [
        ([INF, NAN, 3.0, NAN], [NAN, INF, 2.0, NAN], "PASS"),
        ([-INF, NAN, 3.0, NAN], [NAN, INF, 2.0, NAN], "WRONG_VALUE"),
        ([INF, NAN, NAN, NAN], [NAN, INF, 2.0, NAN], "WRONG_VALUE"),
        ([INF, NAN, 3.0, INF], [NAN, INF, 2.0, NAN], "WRONG_VALUE"),
        ([INF, 1.0, 3.0, NAN], [NAN, INF, 2.0, NAN], "WRONG_VALUE"),
    ]:
        text = "batch_norm_training[x=2x4;running_mean=4,;running_var=4,;momentum=1.0;f32;eps=1e-12]"
        assert answered(text, [x, zeros, zeros], y, np.array(mean), np.array(var)) == verdict, (mean, var)


@pytest.mark.parametrize("name", [n for n in names() if load(n).conventions is not None])
def test_conventions_differ_only_where_definitions_do(name):
    """On numbers all of an operator's conventions are its reference."""
    op = load(name)
    case = next(c for c in cases_of(name) if c.dtype == "f32" and c.fill == "normal")
    posed = make_question(replace(case), op, Mode.FORWARD).case_data
    for answer in op.conventions(*posed.inputs, **posed.params):
        outputs = answer if isinstance(answer, tuple) else (answer,)
        for y, e in zip(outputs, posed.outputs, strict=True):
            np.testing.assert_allclose(np.asarray(y, dtype=np.float64), np.asarray(e, dtype=np.float64), rtol=1e-12)


@pytest.mark.parametrize(("step", "verdict"), [(0, "PASS"), (1, "PASS"), (3, "WRONG_GRADIENT")])
def test_pointwise_gradients_may_round_once(step, verdict):
    """g sign(x) is g x / |x| to HIPS autograd, an ulp away from what the reference holds to be exact."""
    posed = make_question(Case.parse("abs[x=3x5;f32]"), load("abs"), Mode.GRADIENT).case_data
    d = (posed.cotangents[0] * np.sign(posed.inputs[0])).astype(np.float32)
    for _ in range(step):
        d = np.nextafter(d, np.float32(INF))
    assert judge(posed, Outputs([d]), Rules()).verdict == verdict


def test_movement_may_not():
    posed = make_question(Case.parse("reshape[x=3x5;shape=(5,3);f32]"), load("reshape"), Mode.GRADIENT).case_data
    d = posed.cotangents[0].reshape(3, 5).astype(np.float32)
    assert judge(posed, Outputs([d]), Rules()).verdict == "PASS"
    assert judge(posed, Outputs([np.nextafter(d, np.float32(INF))]), Rules()).verdict == "WRONG_GRADIENT"


@pytest.mark.parametrize("name", ["elu", "selu", "celu"])
@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_a_backward_may_use_the_saved_output(name, dtype):
    """g (y + alpha), with y as it was stored."""
    posed = make_question(Case.parse(f"{name}[x=31x33;{dtype}]"), load(name), Mode.GRADIENT).case_data
    kind = DTYPES[dtype].numpy
    x, g = posed.inputs[0], posed.cotangents[0]
    y = posed.outputs[0].astype(kind).astype(np.float32)
    scale = 1.0507009873554805 if name == "selu" else 1.0
    alpha = 1.6732632423543772 if name == "selu" else 1.0
    d = np.where(x > 0, scale * g, g * (y + scale * alpha)).astype(kind)
    assert judge(posed, Outputs([d]), Rules()).verdict == "PASS"
    wrong = np.where(x > 0, scale * g, g * (y + 1.2 * scale * alpha)).astype(kind)
    assert judge(posed, Outputs([wrong]), Rules()).verdict == "WRONG_GRADIENT"


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_a_quotients_backward_may_too(dtype):
    """-g y / b, as Paddle has it; not 0.5 % off in 16 bits."""
    posed = make_question(Case.parse(f"div[a=31x33;b=31x33;{dtype}]"), load("div"), Mode.GRADIENT).case_data
    kind, g, b = DTYPES[dtype].numpy, posed.cotangents[0], posed.inputs[1]
    y = posed.outputs[0].astype(kind).astype(np.float32)
    for factor, verdict in [(1, "PASS"), (1.005, "WRONG_GRADIENT")]:
        d = [(g / b).astype(kind), (-g * y / b * factor).astype(kind)]
        assert judge(posed, Outputs(d), Rules()).verdict == verdict


def _gradient_of_cholesky(posed, how):
    """The reference's gradient, changed by `how`, judged."""
    (expected,) = expected_of(posed, None)
    return judge(posed, Outputs([np.asarray(how(expected.values)).astype(np.float32)]), Rules()).verdict


def test_the_gradient_of_a_symmetric_matrix_may_lie_in_one_triangle():
    """Of x and its transpose only the sum of what their gradients are shows; a part or a multiple of it is wrong."""
    posed = make_question(Case.parse("cholesky[x=3x5x5;f32]"), load("cholesky"), Mode.GRADIENT).case_data
    off = 1 - np.eye(5)
    for how, verdict in [
        (lambda d: d, "PASS"),
        (lambda d: np.tril(d) * (1 + off), "PASS"),
        (lambda d: np.triu(d) * (1 + off), "PASS"),
        (np.tril, "WRONG_GRADIENT"),
        (np.triu, "WRONG_GRADIENT"),
        (lambda d: d * (1 + off), "WRONG_GRADIENT"),
        (lambda d: np.tril(d) * 2, "WRONG_GRADIENT"),
        (lambda d: np.tril(d) * (1 + off) * (1 + 2.0**-18), "WRONG_GRADIENT"),
        (lambda d: np.where(off == 0, d, 0), "WRONG_GRADIENT"),
        (lambda d: np.tril(d) * (1 + off) + np.where(np.triu(off) > 0, np.nan, 0), "WRONG_GRADIENT"),
    ]:
        assert _gradient_of_cholesky(posed, how) == verdict


def test_other_gradients_are_held_to_both_triangles():
    posed = make_question(Case.parse("inverse[x=4x4;f32]"), load("inverse"), Mode.GRADIENT).case_data
    assert not posed.op.symmetric
    (expected,) = expected_of(posed, None)
    got = np.asarray((expected.values + expected.values.T) / 2).astype(np.float32)
    assert judge(posed, Outputs([got]), Rules()).verdict == "WRONG_GRADIENT"
