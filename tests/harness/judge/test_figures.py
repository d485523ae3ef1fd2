"""Arrays as a whole: what is off by the same factor everywhere, or truncated, fails though each element passes."""

import re

import numpy as np
import pytest

from opproof.cases import Case
from opproof.core.dtypes import DTYPES, round_to
from opproof.core.verdicts import Mode
from opproof.harness.judge.array_statistics import BIAS, LONG_SLICE, RMS, Rounding, measure_array
from opproof.harness.judge.bound import STORED, compare
from opproof.harness.judge.judgement import Rules, judge
from opproof.harness.judge.outputs import Outputs
from opproof.harness.reference.array_bias import MIN_WHOLE_VALUES
from opproof.harness.reference.expected import expected_of, values_of
from opproof.harness.reference.question import Expected, evaluate_vjp, make_question
from opproof.reference_ops import load

BF16 = DTYPES["bf16"]


def truncated(values, kind):
    """Towards zero, to the digits of `kind`."""
    fraction, exponent = np.frexp(values)
    return np.ldexp(np.trunc(np.ldexp(fraction, kind.digits)), exponent - kind.digits)


def of(text, change, rules=None):
    """The judgement of the reference's own forward, changed and stored."""
    case = Case.parse(text)
    posed = make_question(case, load(case.op), Mode.FORWARD).case_data
    stored = [change(y).astype(DTYPES[case.dtype].numpy) for y in posed.outputs]
    return judge(posed, Outputs(stored), rules or Rules())


@pytest.mark.parametrize(("layout", "verdict"), [("x:broadcast", "PASS"), ("contiguous", "WRONG_GRADIENT")])
def test_rows_that_are_one_in_memory_share_their_errors(layout, verdict):
    """Each row of the gradient of weight is the sum of cotangents times one row of x: nine elements, one error."""
    case = Case.parse(f"linear[x=5x9;weight=3x9;f32;layout={layout}]")
    posed = make_question(case, load(case.op), Mode.GRADIENT).case_data
    exact = evaluate_vjp(posed.op, posed.inputs, posed.params, posed.cotangents, posed.outputs)
    expected = expected_of(posed)
    off = [0 if e is None else e.scale * DTYPES["f32"].u for e in expected]
    off[1] = off[1] * np.array([[12.0], [-1.0], [0.0]]) * np.sign(exact[1])
    answer = Outputs([None if y is None else (y + d).astype(np.float32) for y, d in zip(exact, off, strict=True)])
    assert judge(posed, answer, Rules()).verdict == verdict


@pytest.mark.parametrize(
    ("text", "factor"),
    [
        ("softmax[x=7x33;dim=-1;bf16]", 1.02),
        ("softmax[x=7x33;dim=-1;f16]", 1.003),
        ("gelu[x=7x33;bf16]", 0.98),
        ("exp[x=7x33;f16]", 0.997),
        ("mean[x=31x65;dim=-1;bf16]", 1.02),
        ("softmax[x=7x33;dim=-1;f32]", 1 + 2.0**-20),
        ("exp[x=7x33;f32]", 1 - 2.0**-20),
    ],
)
def test_a_factor_fails(text, factor):
    assert of(text, lambda y: y).verdict == "PASS"
    assert of(text, lambda y: y * factor).verdict == "WRONG_VALUE"


@pytest.mark.parametrize("mode", [Mode.FORWARD, Mode.GRADIENT])
@pytest.mark.parametrize(
    ("text", "factor"),
    [
        ("scaled_dot_product_attention[query=2x4x9x16;key=2x4x33x16;value=2x4x33x16;bf16]", 1.02),
        ("scaled_dot_product_attention[query=2x4x9x16;key=2x4x33x16;value=2x4x33x16;f16]", 1.003),
        ("layer_norm[x=31x65;weight=65,;bias=65,;normalized_shape=(65);bf16]", 0.98),
        ("linear[x=33x65;weight=17x65;bias=17,;bf16]", 1.02),
        ("logsumexp[x=33x65;dim=-1;f16]", 0.997),
        ("gelu[x=7x33;bf16]", 1.02),
    ],
)
def test_a_factor_fails_where_intermediates_are_declared_to_be_stored(text, factor, mode):
    case = Case.parse(text)
    kind = DTYPES[case.dtype]
    posed = make_question(case, load(case.op), mode).case_data
    exact = posed.outputs
    if mode is Mode.GRADIENT:
        exact = evaluate_vjp(posed.op, posed.inputs, posed.params, posed.cotangents, posed.outputs)

    def judged(change):
        stored = [None if y is None else round_to(y * change, kind).astype(kind.numpy) for y in exact]
        return judge(posed, Outputs(stored), Rules(declared="storage"))

    assert judged(1).verdict == "PASS"
    assert judged(factor).verdict in ("WRONG_VALUE", "WRONG_GRADIENT")
    assert all(e is None or e.spread is None for e in expected_of(posed))
    assert any(e is not None and e.spread for e in expected_of(posed, "storage"))


def test_the_same_few_numbers_again_and_again_may_be_rounded_to_one_side():
    """Products of numbers beside 1, each stored in bf16: half the roundings are ties, and 65 of them lean one way."""
    case = Case.parse("prod[x=17x65;dim=-1;bf16;fill=close]")
    posed = make_question(case, load("prod"), Mode.FORWARD).case_data
    y = posed.inputs[0][:, 0]
    for column in posed.inputs[0].T[1:]:
        y = round_to(y * column, BF16)
    assert abs(np.mean(y / posed.outputs[0]) - 1) > 8 * BF16.u
    assert judge(posed, Outputs([y.astype(BF16.numpy)]), Rules(declared="storage")).verdict == "PASS"


def test_a_constant_that_is_stored_in_16_bits_moves_the_whole_as_far_as_it_is_ill_conditioned():
    """exp(x ln 2) with ln 2 in bf16, as JAX's exp2: at x near 10 all results are 1.7 % too small."""
    case = Case.parse("exp2[x=7x33;bf16;fill=offset]")
    posed = make_question(case, load("exp2"), Mode.FORWARD).case_data
    constant = round_to(np.log(2), BF16)
    y = round_to(np.exp(round_to(posed.inputs[0] * constant, BF16)), BF16)
    assert abs(np.median(y / posed.outputs[0]) - 1) > 4 * BF16.u

    def verdict(answer):
        return judge(posed, Outputs([answer.astype(BF16.numpy)]), Rules(declared="storage")).verdict

    assert verdict(y) == "PASS"
    assert verdict(round_to(posed.outputs[0] * 1.08, BF16)) == "WRONG_VALUE"


def test_the_message_names_the_factor():
    found = of("exp[x=7x33;f32]", lambda y: y * (1 + 2.0**-21))
    assert found.verdict == "WRONG_VALUE"
    assert found.message.startswith("every element is within its bound, but all are 4.8e-07 of their size too large")
    assert found.figures.bias > BIAS


def test_of_several_gradients_the_one_that_is_wrong_as_a_whole_alone_is_named():
    posed = make_question(Case.parse("mul[a=33x33;b=33x33;f32]"), load("mul"), Mode.GRADIENT).case_data
    g_x, g_y = (e.values.astype(np.float32) for e in expected_of(posed, None))
    g_y[3, 4] *= 2
    found = judge(posed, Outputs([g_x * np.float32(1 + 2.0**-21), g_y]), Rules())
    assert found.message.startswith("a: every element is within its bound, but all are 4.8e-07 of their size too large")
    assert (found.worst.tensor, found.worst.index) == ("b", (3, 4))
    assert judge(posed, Outputs([g_x, g_y]), Rules()).message == ""


@pytest.mark.parametrize("text", ["square[x=33x33;bf16]", "rms_norm[x=31x65;weight=65,;bf16]", "exp[x=33x33;f16]"])
def test_a_store_that_truncates_fails_unless_it_is_declared(text):
    kind = DTYPES[Case.parse(text).dtype]
    honest = of(text, lambda y: round_to(y, kind))
    assert (honest.verdict, honest.figures.rounding) == ("PASS", Rounding.NEAREST)
    found = of(text, lambda y: truncated(y, kind))
    assert (found.verdict, found.figures.rounding) == ("WRONG_VALUE", Rounding.TRUNCATE)
    assert "rounded towards zero (truncated)" in found.message
    assert of(text, lambda y: truncated(y, kind), Rules(rounding="truncate")).verdict == "PASS"


def test_a_constant_that_fills_an_array_is_one_error():
    """The same value everywhere is rounded to the same side everywhere."""
    values = np.full(600, 1 + 0.9 * BF16.u)
    want = Expected(values, np.zeros(600), faithful=True)
    got = round_to(values, BF16)
    found = measure_array(got, want, compare(got, want, "bf16"), "bf16")
    assert found.rounding == Rounding.UNKNOWN
    assert found.objection == ""


@pytest.mark.parametrize(("size", "fails"), [(MIN_WHOLE_VALUES, True), (MIN_WHOLE_VALUES - 1, False)])
def test_few_elements_have_no_figures(size, fails):
    x = 1 + np.arange(size) / 64
    want = Expected(x, np.zeros(size))
    got = x * (1 + 2 * RMS * DTYPES["f32"].u)
    assert bool(measure_array(got, want, compare(got, want, "f32"), "f32").objection) is fails


@pytest.mark.parametrize(
    ("slices", "length", "alike", "fails"),
    [
        (2, LONG_SLICE, True, False),
        (MIN_WHOLE_VALUES, LONG_SLICE, True, True),
        (2, LONG_SLICE - 1, True, True),
        (2, LONG_SLICE, False, True),
    ],
)
def test_a_few_long_slices_of_one_error_each_are_few_errors(slices, length, alike, fails):
    """As a row of a softmax's gradient, whose sum of 65,537 terms errs once for all of it."""
    x = 1 + np.random.default_rng(0).random((slices, length))
    want = Expected(x, np.zeros(x.shape))
    sign = 1 if alike else np.random.default_rng(1).choice([-1, 1], x.shape)
    got = x * (1 + 2 * RMS * DTYPES["f32"].u * sign)
    assert bool(measure_array(got, want, compare(got, want, "f32"), "f32").objection) is fails


def test_errors_of_both_signs_have_an_rms():
    rng = np.random.default_rng(0)
    x = 1 + rng.random(400)
    want = Expected(x, np.zeros(400))
    got = x * (1 + 1.5 * RMS * DTYPES["f32"].u * rng.choice([-1, 1], 400))
    found = measure_array(got, want, compare(got, want, "f32"), "f32")
    assert abs(found.bias) < BIAS
    assert "their RMS is" in found.objection


@pytest.mark.parametrize(("sign", "how"), [(1, "large"), (-1, "small")])
def test_a_mean_to_either_side_is_told_though_the_rms_is_within_its_own(sign, how):
    x = 1 + np.arange(400) / 400
    want = Expected(x, np.zeros(400))
    got = x * (1 + sign * (BIAS + RMS) / 2 * DTYPES["f32"].u)
    found = measure_array(got, want, compare(got, want, "f32"), "f32")
    assert found.rms < RMS
    assert f"of their size too {how} together" in found.objection
    assert measure_array(got, want, compare(got, want, "f32"), "f32", repeated=True).rms is None


@pytest.mark.parametrize(("size", "told"), [(0.5, True), (1.5 * RMS, False)])
def test_repeated_values_have_figures_where_these_are_within_their_bounds(size, told):
    """Of an array that errs by more than independent errors would nothing is known, though its mean is right."""
    x = 1 + np.arange(400) / 400
    want = Expected(x, np.zeros(400))
    got = x * (1 + size * DTYPES["f32"].u * np.where(np.arange(400) % 2, -1, 1))
    found = measure_array(got, want, compare(got, want, "f32"), "f32", repeated=True)
    assert (found.rms is not None) is told


def test_flushed_results_do_not_count():
    x = np.full(64, DTYPES["f32"].tiny / 3) * (1 + np.arange(64) / 64)
    want = Expected(x, np.zeros(64))
    assert measure_array(np.zeros(64), want, compare(np.zeros(64), want, "f32"), "f32").rms is None


def test_numbers_of_the_dtype_are_not_moved():
    """Gradients that are the cotangent need no rounding; an ulp more everywhere is within every element's bound."""
    x = np.unique(round_to(np.random.default_rng(0).standard_normal(4000), BF16))
    want = Expected(x, np.zeros(x.size), faithful=True)
    for change, message in ((1.0, ""), (1 + 2.0**-8, "1.4 units too large"), (1 - 2.0**-8, "1.4 units too small")):
        got = round_to(x * change, BF16)
        comparison = compare(got, want, "bf16")
        assert comparison.passed.all()
        assert message in measure_array(got, want, comparison, "bf16").objection
    ulp = np.where(np.random.default_rng(1).random(x.size) < 0.5, 1 + 2.0**-8, 1 - 2.0**-8)
    mixed = round_to(x * ulp, BF16)
    assert measure_array(mixed, want, compare(mixed, want, "bf16"), "bf16").moved == 0


def test_any_faithful_rounding_passes():
    """Of the two neighbours of a value, either one: within STORED units."""
    x = 1 + np.random.default_rng(0).random(1000)
    low = truncated(x, BF16)
    want = Expected(x, np.zeros(1000), faithful=True)
    for got in (low, low + 2.0**-7):
        found = compare(got, want, "bf16")
        assert found.passed.all()
        assert found.units.max() <= STORED


EACH = ("exp[x=33x33;bf16]", "exp2[x=33x33;f16]", "sqrt[x=33x33;bf16;fill=positive]")
#: What was saved, the elements of a row or of a matrix share.
BY_ROW = (
    "softmax[x=331x33;dim=-1;bf16]",
    "logsumexp[x=331x9;dim=-1;bf16]",
    "std[x=9x331;dim=0;bf16]",
    "norm[x=331x9;dim=-1;f16]",
    "inverse[x=331x2x2;bf16]",
)


@pytest.mark.parametrize("text", [*EACH, *BY_ROW])
def test_gradients_from_a_saved_output_lean_to_no_side(text):
    """Rounding the output that was saved, and then the gradient: twice, but to either side alike."""
    case = Case.parse(text)
    kind, op = DTYPES[case.dtype], load(case.op)
    posed = make_question(case, op, Mode.GRADIENT).case_data
    u = kind.u

    def verdict(change, store=round_to, rules=None):
        saved = [round_to(y, kind) for y in posed.outputs]
        (exact,) = evaluate_vjp(op, posed.inputs, posed.params, posed.cotangents, saved)
        return judge(posed, Outputs([store(change(exact), kind).astype(kind.numpy)]), rules or Rules())

    assert verdict(lambda d: d).verdict == "PASS"
    for factor, how in ((1 + u, "too large on average"), (1 - u, "too small on average")):
        found = verdict(lambda d, f=factor: d * f)
        assert found.verdict == "WRONG_GRADIENT"
        assert how in found.message
    assert verdict(lambda d: d, truncated).verdict == "WRONG_GRADIENT"
    assert verdict(lambda d: d, truncated, Rules(rounding="truncate")).verdict == "PASS"


def test_a_whole_number_is_met_exactly():
    """2.998 is within two units of 3, and no floor of anything."""
    text = "floor_divide[a=9x33;b=9x33;bf16]"
    ulp = 2.0**-7
    assert of(text, lambda y: y).verdict == "PASS"
    assert of(text, lambda y: round_to(y * (1 - ulp), BF16)).verdict == "WRONG_VALUE"
    less = of(text, lambda y: truncated(y * (1 - 2.0**-20), BF16), Rules(rounding="truncate"))
    assert less.verdict == "PASS"


def _added_in_float16(x, weight):
    """A convolution by NumPy's einsum, as autograd's signal.convolve has it: sums are kept in float16."""
    wide = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(wide, (3, 3), axis=(2, 3))
    return np.einsum("nchwij,ocij->nohw", windows, weight)


@pytest.mark.parametrize("seed", range(8))
def test_few_sums_that_are_stored_often_have_a_slope_by_chance(seed):
    """24 results, whose sums of 1,152 terms are kept in 16 bits: that is told by their RMS, and no factor is."""
    case = Case.parse(f"conv2d[x=1x128x3x4;weight=2x128x3x3;padding=1;f16;seed={seed}]")
    posed = make_question(case, load("conv2d"), Mode.FORWARD).case_data
    x, weight = (v.astype(np.float16) for v in posed.inputs[:2])
    found = judge(posed, Outputs([_added_in_float16(x, weight)]), Rules(declared="storage"))
    assert found.figures.slope == 0
    assert found.verdict == "PASS" or re.search("their RMS is .* units, at most 2 are allowed", found.message)


def test_many_of_them_tell_a_factor():
    case = Case.parse("conv2d[x=2x16x9x11;weight=16x16x3x3;padding=1;f16]")
    posed = make_question(case, load("conv2d"), Mode.FORWARD).case_data
    x, weight = (v.astype(np.float16) for v in posed.inputs[:2])
    off = (_added_in_float16(x, weight).astype(np.float64) * 1.002).astype(np.float16)
    found = judge(posed, Outputs([off]), Rules(declared="storage"))
    assert found.verdict == "WRONG_VALUE"
    assert "the whole is 0.0" in found.message
    assert found.message.endswith("of its size too large, at most 0.00098 are allowed")


def _away_at_ties(values):
    """To the nearest bfloat16, of two that are as near the one farther from zero: half a step up, then truncated."""
    bits = np.asarray(values, np.float32).view(np.uint32) + np.uint32(0x8000)
    return (bits & np.uint32(0xFFFF0000)).view(np.float32).astype(np.float64)


@pytest.mark.parametrize("seed", range(4))
def test_what_lies_in_the_middle_may_go_to_either_side(seed):
    """Of sums of two bf16 numbers a fifth are ties, which FBGEMM rounds away from zero: PyTorch's embedding_bag."""
    case = Case.parse(f"embedding_bag[weight=4099x17;indices=33x2;mode=sum;bf16;seed={seed}]")
    posed = make_question(case, load(case.op), Mode.FORWARD).case_data
    answer = _away_at_ties(posed.outputs[0]).astype(DTYPES["bf16"].numpy)
    assert judge(posed, Outputs([answer]), Rules()).verdict == "PASS"


@pytest.mark.parametrize(("spread", "told"), [(1e-4, True), (1e9, False)])
def test_what_is_0_but_for_its_rounding_has_no_size_to_be_off_by(spread, told):
    """Of sums that cancel to 1e-17 an answer within its bound may be any multiple."""
    truth = np.random.default_rng(5).standard_normal(4096) * 1e-17
    got = truth * 1.5
    want = Expected(truth, np.full(truth.shape, 1e-3), False, spread=spread)
    found = measure_array(got, want, compare(got, want, "bf16"), "bf16")
    assert bool(found.slope) is told


def with_factor(text, mode, units):
    """The judgement of right results times 1 + `units` roundoffs."""
    case = Case.parse(text)
    posed = make_question(case, load(case.op), Mode(mode)).case_data
    right = [v for v in values_of(posed) if v is not None]
    dtype = DTYPES[case.dtype]
    stored = [np.asarray(v * (1 + units * dtype.u)).astype(dtype.numpy) for v in right]
    return judge(posed, Outputs(stored), Rules())


@pytest.mark.parametrize(
    ("text", "mode", "verdict"),
    [
        ("std[x=256x1x2x2;dim=None;keepdim=true;f64;fill=zeros]", "gradient", "PASS"),
        ("log_softmax[x=1x65539;dim=-1;f32;fill=wide]", "forward", "PASS"),
        ("log_softmax[x=9x6553;dim=-1;f32;fill=wide]", "forward", "WRONG_VALUE"),
        ("exp[x=32x32;f64]", "forward", "WRONG_VALUE"),
    ],
)
def test_a_factor_is_no_fault_where_all_elements_share_one_error(text, mode, verdict):
    """The deviation of a whole array is one number, which is divided by in all of its gradient."""
    units = {"std": 60, "log_softmax": 20 if "9x" in text else 12, "exp": 12}[text.partition("[")[0]]
    assert with_factor(text, mode, units).verdict == verdict


@pytest.mark.parametrize(("fill", "verdict"), [("halves", "PASS"), ("normal", "PASS")])
def test_a_dozen_saved_numbers_lean_without_a_fault(fill, verdict):
    """tanh of 13 numbers is rounded 13 times, and thousands of gradients share these roundings."""
    case = Case.parse(f"tanh[x=1x256x13x1;f16;fill={fill}]")
    posed = make_question(case, load("tanh"), Mode.GRADIENT).case_data
    saved = round_to(np.tanh(posed.inputs[0]), DTYPES["f16"])
    answer = (posed.cotangents[0] * (1 - saved * saved)).astype(np.float16)
    assert judge(posed, Outputs([answer]), Rules()).verdict == verdict


def test_truncated_gradients_fail_where_many_numbers_are_saved():
    case = Case.parse("tanh[x=1x256x13x1;f16]")
    posed = make_question(case, load("tanh"), Mode.GRADIENT).case_data
    answer = truncated(values_of(posed)[0], DTYPES["f16"]).astype(np.float16)
    assert judge(posed, Outputs([answer]), Rules()).verdict == "WRONG_GRADIENT"
