"""What the references decide where others differ: no elements, infinite logits, indices that meet."""

import math

import numpy as np
import pytest
from _ask import attempted, judged

from opproof.backends.numpy import NumPy
from opproof.cases import Case, cases_of
from opproof.core.verdicts import Mode
from opproof.harness.judge.judgement import Rules, judge
from opproof.harness.reference import kinks
from opproof.harness.reference.data import inputs_of, order_arguments
from opproof.harness.reference.question import make_question, needs_of
from opproof.harness.reference.roundoff import ignore_fp_warnings
from opproof.reference_ops import load

INF = math.inf


@pytest.mark.parametrize(("name", "value"), [("amax", -INF), ("amin", INF), ("logsumexp", -INF)])
@pytest.mark.parametrize(("shape", "dim", "out"), [((3, 0), -1, (3,)), ((2, 0, 5), 1, (2, 5)), ((2, 0), (0, 1), ())])
def test_a_reduction_over_nothing_gives_its_identity(name, value, shape, dim, out):
    op, x = load(name), np.zeros(shape)
    with np.errstate(all="ignore"):
        y = np.asarray(op.forward(x, dim=dim))
        d = op.vjp(np.ones(out), y, x, dim=dim)
    assert y.shape == out
    assert (y == value).all()
    assert np.shape(d) == shape


@pytest.mark.parametrize("name", ["amax", "amin", "logsumexp"])
@pytest.mark.parametrize("mode", ["forward", "gradient"])
def test_the_case_of_nothing_is_judged(name, mode):
    case = Case.parse(f"{name}[x=3x0;dim=-1;f32]")
    assert case in cases_of(name)
    made = attempted(NumPy(), str(case), mode)
    assert made.judgement.verdict == "PASS"
    if mode == "forward":
        made.answer.arrays[0][1] = 0
        assert judge(made.posed, made.answer, Rules()).verdict == "WRONG_VALUE"


@pytest.mark.parametrize(
    ("x", "target", "loss"),
    [
        (INF, 1.0, 0.0),
        (INF, 0.0, INF),
        (INF, 0.5, INF),
        (-INF, 0.0, 0.0),
        (-INF, 1.0, INF),
        (-INF, 0.25, INF),
        (-INF, -1.0, -INF),
        (2.0, INF, -INF),
        (-2.0, INF, INF),
        (0.0, INF, math.log(2)),
        (INF, INF, -INF),
        (math.nan, 1.0, math.nan),
        (INF, math.nan, math.nan),
    ],
)
@pytest.mark.parametrize("pos_weight", [None, 1.0])
def test_infinite_logits_give_the_limit(x, target, loss, pos_weight):
    """A weight of 1 is no weight; the limit is what a large number tends to."""
    forward = load("bce_with_logits").forward
    weight = None if pos_weight is None else np.array([pos_weight])
    with np.errstate(all="ignore"):
        y = forward(np.array([x]), np.array([target]), None, weight, reduction="none")
        near = forward(np.clip([x], -1e200, 1e200), np.clip([target], -1e90, 1e90), None, weight, reduction="none")
    np.testing.assert_equal(np.round(y, 12), np.round([loss], 12))
    if math.isinf(loss):
        assert near[0] * np.sign(loss) > 1e80
    else:
        np.testing.assert_allclose(near, [loss])


def test_an_infinite_logit_is_a_case():
    case = next(c for c in cases_of("bce_with_logits") if c.fill == "special" and c.dtype == "f32")
    x, target = order_arguments(case, load("bce_with_logits"), inputs_of(case, load("bce_with_logits")))[:2]
    assert np.isinf(x).any()
    assert np.isinf(target).any()


@pytest.mark.parametrize(
    "case", ["gelu[x=66,;approximate=tanh;f32;fill=special]", "gelu[x=66,;f32;fill=special]"]
    + [f"{name}[x=66,;f32;fill=special]" for name in ("gelu_quick", "silu", "mish", "hardswish")],
)  # fmt: skip
def test_at_minus_infinity_the_limit_is_as_right_as_infinity_times_zero(case):
    made = attempted(NumPy(), case, "forward")
    (x,), (y,) = made.posed.inputs, made.answer.arrays
    assert np.isnan(y[x == -INF]).all()
    for value, verdict in ((0, "PASS"), (-1, "WRONG_VALUE")):
        y[x == -INF] = value
        assert judge(made.posed, made.answer, Rules()).verdict == verdict


@pytest.mark.parametrize(("name", "nothing"), [("softmax", 0.0), ("log_softmax", -INF)])
def test_beside_an_infinity_nothing_has_a_share(name, nothing):
    """So SciPy's log_softmax and exp(x - logsumexp(x)) have it; a share there, or inf itself, is wrong."""
    made = attempted(NumPy(), f"{name}[x=25x7;dim=-1;f32;fill=special-rows]", "forward")
    (x,), (y,) = made.posed.inputs, made.answer.arrays
    rows = (x == INF).any(axis=-1) & ~np.isnan(x).any(axis=-1)
    finite, infinite = rows[:, None] & (x != INF), rows[:, None] & (x == INF)
    assert finite.any()
    assert np.isnan(y[finite]).all()
    for beside, there, verdict in (
        (nothing, INF, "WRONG_VALUE"),
        (0.5, math.nan, "WRONG_VALUE"),
        (nothing, math.nan, "PASS"),
    ):
        y[finite], y[infinite] = beside, there
        assert judge(made.posed, made.answer, Rules()).verdict == verdict
    y[np.argwhere(finite)[0][0]] = math.nan  # of a convention all rows are
    assert judge(made.posed, made.answer, Rules()).verdict == "WRONG_VALUE"


def test_lgamma_of_minus_infinity_is_that_of_c_or_of_scipy():
    made = attempted(NumPy(), "lgamma[x=66,;f32;fill=special]", "forward")
    (x,), (y,) = made.posed.inputs, made.answer.arrays
    assert (y[x == -INF] == INF).any()
    for value, verdict in ((-INF, "PASS"), (math.nan, "WRONG_VALUE"), (0.0, "WRONG_VALUE")):
        y[x == -INF] = value
        assert judge(made.posed, made.answer, Rules()).verdict == verdict


@pytest.mark.parametrize("reduction", ["none", "mean"])
def test_beside_an_infinite_logit_a_loss_is_infinite(reduction):
    """logsumexp(x) - x[target], as it stands; a number there is wrong."""
    rule = {"ignore_index": -100, "label_smoothing": 0.0, "reduction": reduction}
    x, target = np.array([[1.0, INF, 2.0], [0.0, 1.0, -2.0]]), np.array([0, 1])
    op = load("cross_entropy")
    with np.errstate(all="ignore"):
        formula = np.logaddexp.reduce(x, axis=1) - x[[0, 1], target]
        (answer,) = op.conventions(x, target, **rule)
        assert np.isnan(op.forward(x, target, **rule)).any()
    assert formula[0] == INF
    np.testing.assert_allclose(answer, formula if reduction == "none" else np.mean(formula))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("name", "tensor"), [("scatter", "index"), ("set_rows", "indices")])
def test_what_is_written_is_written_once(name, tensor, seed):
    """Repeated indices would leave the result to the order of writing, in every case and at every seed."""
    op, longest = load(name), 0
    for case in cases_of(name):
        index = inputs_of(case.with_seed(seed), op)[tensor]
        lines = np.moveaxis(index, case.kwargs.get("dim", -1), -1)
        assert (np.diff(np.sort(lines, axis=-1), axis=-1) != 0).all(), str(case)
        longest = max(longest, lines.shape[-1])
    assert longest > 30


def test_what_is_added_may_meet():
    op = load("scatter_add")
    repeats = 0
    for case in cases_of("scatter_add"):
        lines = np.moveaxis(inputs_of(case, op)["index"], case.kwargs["dim"], -1)
        repeats += bool((np.diff(np.sort(lines, axis=-1), axis=-1) == 0).any())
    assert repeats > 20


@pytest.mark.parametrize("text", ["hardsigmoid[x=7x33;f64]", "celu[x=6x11;alpha=0.1;f64]"])
def test_the_backend_calls_pytorchs_own(text):
    """PyTorch's float64 gradients round a constant to float32: the backend shows it, the twin goes round it."""
    pytest.importorskip("torch", reason="the package torch is not installed")
    from opproof.backends.torch import create

    backend = create()
    assert backend.compute(text.partition("[")[0], "f64", "gradient") == "f32"
    backend.compute = None
    found = judged(backend, text, "gradient")
    assert found.verdict == "WRONG_GRADIENT"
    assert found.units > 1e5


def test_what_needs_a_gradient():
    case = Case.parse("scatter[x=4x5;index=1x5;src=1x5;dim=0;f32;needs=src]")
    op = load("scatter")
    posed = make_question(case, op, Mode.FORWARD).case_data
    assert needs_of(case, op, posed.inputs, posed.outputs) == [False, False, True]
    assert make_question(case, op, Mode.GRADIENT).case_data.needs == (False, False, True)


def pooled(x, **params):
    """What max_pool1d makes of the line `x`, and what by other conventions."""
    op = load("max_pool1d")
    answers = [op.forward(np.array([[x]]), **params), *op.conventions(np.array([[x]]), **params)]
    return [(y[0, 0].tolist(), where[0, 0].tolist()) for y, where in answers]


def test_padding_wins_no_window_of_only_negative_infinity():
    assert pooled([-INF, -INF, -INF], kernel_size=2, stride=2, padding=1)[0] == ([-INF, -INF], [0, 1])


def test_a_window_with_nan_is_nan_or_leaves_it_out():
    nan = math.nan
    answers = pooled([1.0, nan, nan, nan, nan, nan], kernel_size=3)
    expected = [([nan, nan], [1, 3]), ([nan, nan], [2, 5]), ([1.0, -INF], [0, 3]), ([1.0, nan], [0, 3])]
    np.testing.assert_equal(answers, expected)


def test_nan_may_take_any_place_among_equals():
    """Which of several NaN topk names is open, but never one of them twice."""
    op, x = load("topk"), np.array([[math.nan, 2.0, math.nan, math.nan]])
    for named, settled in (([2, 0], [0, 2]), ([3, 2], [0, 2]), ([2, 2], [2, 2]), ([1, 0], [1, 0]), ([1, 3], [1, 0])):
        y = np.take_along_axis(x, np.array([named]), axis=-1)
        assert op.settled((y, np.array([named])), x, k=2)[1].tolist() == [settled]


def test_nan_for_nan_at_kinks_that_are_not_looked_at_one_by_one(monkeypatch):
    """Past so many kinks nothing is known of an element by itself; what meets its expected NaN passes all the same."""
    monkeypatch.setattr(kinks, "MAX_SINGLE_ELEMENTS", 3)
    made = attempted(NumPy(), "std[x=5x1;dim=-1;f32]", "gradient")
    assert made.judgement.verdict == "PASS"


def test_a_bessel_function_at_infinity_is_its_limit_or_nan():
    """exp(x) over sqrt(x) is NaN there, in NumPy, SciPy and PyTorch; libraries that compute the limit are right."""

    class At(NumPy):
        def __init__(self, value):
            self.value = value

        def forward(self, op, inputs, params):
            (y,) = super().forward(op, inputs, params)
            return [np.where(np.isinf(inputs[0]), self.value, y).astype(y.dtype)]

    case = next(str(c) for c in cases_of("i0") if c.fill == "special" and c.dtype == "f32")
    given = {value: judged(At(value), case).verdict for value in (INF, math.nan, 1.0)}
    assert [str(v) for v in given.values()] == ["PASS", "PASS", "WRONG_VALUE"]


@pytest.mark.parametrize(
    "case",
    [
        "batch_norm[x=8x320x1;running_mean=320,;running_var=320,;weight=320,;training=true;f64;fill=special]",
        "batch_norm[x=8x32x2;running_mean=32,;running_var=32,;weight=32,;bias=32,;f32;fill=special]",
        "group_norm[x=28x15x1x2;weight=15,;bias=15,;num_groups=3;eps=0.12554;f32;fill=special]",
    ],
)
def test_an_infinite_weight_of_a_norm_may_be_lost_where_x_is_multiplied_and_shifted(case):
    made = attempted(NumPy(), case, "forward")
    x, weight = made.posed.inputs[0], made.posed.inputs[made.posed.names.index("weight")]
    (y,) = made.answer.arrays
    assert judge(made.posed, made.answer, Rules()).verdict == "PASS"
    infinite = np.broadcast_to(np.isinf(weight).reshape(1, -1, *(1,) * (x.ndim - 2)), x.shape)
    finite = np.isfinite(y) & ~infinite
    with ignore_fp_warnings():
        lost = next(made.posed.op.conventions(*made.posed.inputs, **made.posed.params))
    assert (np.isnan(lost) & ~np.isnan(made.posed.outputs[0])).any()
    made.answer.arrays[0] = lost.astype(y.dtype)
    assert judge(made.posed, made.answer, Rules()).verdict == "PASS"
    made.answer.arrays[0] = np.where(finite, y, np.nan).astype(y.dtype)
    made.answer.arrays[0][np.nonzero(finite)[0][0], np.nonzero(finite)[1][0]] = np.nan
    assert judge(made.posed, made.answer, Rules()).verdict == "WRONG_VALUE"


@pytest.mark.parametrize(
    "shapes", ["baddbmm[x=2x3x4;a=2x3x5;b=2x5x4", "addmm[x=3x4;a=3x5;b=5x4", "addmv[x=33,;a=33x5;b=5,"]
)
def test_a_product_that_is_multiplied_by_zero_may_not_be_looked_at(shapes):
    for alpha, wrong in (("0.0", False), ("0.5", True)):
        made = attempted(NumPy(), f"{shapes};beta=0.5;alpha={alpha};f32;fill=special]", "forward")
        made.answer.arrays[0] = (0.5 * made.posed.inputs[0]).astype(np.float32)
        assert (judge(made.posed, made.answer, Rules()).verdict == "WRONG_VALUE") is wrong


class RoundsFirst:
    """grid_sample that goes to the nearest cell before it mirrors, as ONNX has it."""

    name, version, device = "rounds first", "1", "cpu"

    def forward(self, op, inputs, params):
        x, grid = inputs
        n = x.shape[3]
        cell = np.rint(((grid[..., 0].astype(float) + 1) * n - 1) / 2).astype(int) % (2 * n)
        cell = np.where(cell >= n, 2 * n - 1 - cell, cell)
        return [x[np.arange(len(x))[:, None, None], :, 0, cell].transpose(0, 3, 1, 2)]


def test_a_place_halfway_may_go_to_a_cell_before_it_is_mirrored():
    """-2.5 is mirrored to 1.5, and so to cell 2; or it goes to -2, which is mirrored to cell 1."""
    case = "grid_sample[x=1x8x1x8;grid=1x255x1x2;mode=nearest;padding_mode=reflection;f16;fill=negative]"
    assert judged(RoundsFirst(), case, "forward").verdict == "PASS"
    parsed = Case.parse(case)
    op = load("grid_sample")
    x, grid = order_arguments(parsed, op, inputs_of(parsed, op))
    assert np.any(op.forward(x, grid, **parsed.kwargs) != next(op.conventions(x, grid, **parsed.kwargs)))


class FlatClamp:
    """clamp whose gradient is 0 at its bounds, and elsewhere that of NumPy."""

    name, version, device = "flat", "1", "cpu"

    def __init__(self, slope=0):
        self._slope = slope

    def forward(self, op, inputs, params):
        return [np.clip(inputs[0], params["min"], params["max"])]

    def vjp(self, op, inputs, params, cotangents, needs):
        x, g = inputs[0], cotangents[0]
        at_bound = (x == params["min"]) | (x == params["max"])
        return [np.where(at_bound, self._slope * g, np.where((x > params["min"]) & (x < params["max"]), g, 0))]


@pytest.mark.parametrize(("slope", "verdict"), [(0, "PASS"), (1, "PASS"), (0.5, "WRONG_GRADIENT")])
def test_a_clamp_to_one_number_is_flat_there(slope, verdict):
    """Its two kinks are one place, on both sides of which the gradient is 0; PyTorch's is that of the cotangent."""
    assert judged(FlatClamp(slope), "clamp[x=1x1x65;min=0.5;max=0.5;f32;fill=edges]", "gradient").verdict == verdict
