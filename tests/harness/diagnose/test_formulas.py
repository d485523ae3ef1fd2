"""Formulas that lose digits, and statistics that are rounded or held constant, are told from other errors."""

import numpy as np
import pytest
from _ask import attempted
from test_patterns import Changed, told

from opproof.backends.numpy import create
from opproof.harness.diagnose import precision
from opproof.harness.diagnose.diagnosis import diagnose, find_other_patterns
from opproof.harness.diagnose.wrong import list_wrong_tensors

F, G = "forward", "gradient"


class Forward:
    """The numpy backend with another forward."""

    def __init__(self, forward):
        self.change = forward

    def forward(self, op, inputs, params):
        return [np.asarray(self.change(inputs, params)).astype(inputs[0].dtype)]


def squares(inputs, params):
    """E[x²] - E[x]², in float32."""
    x = inputs[0].astype(np.float32)
    n = np.float32(x.shape[-1])
    return ((x * x).mean(-1) - x.mean(-1) ** 2) * (n / (n - params["correction"]))


@pytest.mark.parametrize("case", ["var[x=5x65;dim=-1;f32;fill=offset-1e3]", "var[x=5x65;dim=-1;bf16;fill=offset-1e3]"])
def test_a_variance_that_is_a_difference_of_squares(case):
    said = told(Forward(squares), case)
    assert said.startswith("y is wrong where numbers are far from 0 beside their spread, by what rounding makes of x²")
    assert said.endswith("as where a variance is the difference of E[x²] and E[x]²")


@pytest.mark.parametrize("factor", [1.01, 3.0])
def test_a_variance_that_is_off_in_proportion_is_none(factor):
    said = told(
        Changed(lambda found, inputs: [(factor * found[0]).astype(found[0].dtype)]),
        "var[x=5x65;dim=-1;f32;fill=offset-1e3]",
    )
    assert "x²" not in said


def narrow_root(inputs, params):
    """A mean square that is rounded to float16."""
    x = inputs[0].astype(np.float32)
    mean = np.mean(x * x, -1, keepdims=True).astype(np.float16).astype(np.float32)
    return x / np.sqrt(mean + np.float32(params["eps"]))


def test_a_statistic_that_is_rounded():
    said = told(Forward(narrow_root), "rms_norm[x=7x33;f32]")
    assert said.startswith("looks like f16 or tf32 arithmetic: every row of y along axis 1 is a factor of its own")
    assert said.endswith("units from 1, as where a statistic of the row is rounded")


def test_factors_of_one_side_are_no_rounding():
    def smaller(inputs, params):
        x = inputs[0].astype(np.float64)
        root = np.sqrt(np.mean(x * x, -1, keepdims=True) + params["eps"])
        return x / (root * (1 + 1e-4 * (1 + np.arange(len(x)).reshape(-1, 1))))

    assert "looks like" not in told(Forward(smaller), "rms_norm[x=7x33;f32]")


class MeanConstant:
    """layer_norm whose gradient takes the mean of the row for a constant."""

    def forward(self, op, inputs, params):
        return create().forward(op, inputs, params)

    def vjp(self, op, inputs, params, cotangents, needs):
        found = create().vjp(op, inputs, params, cotangents, needs)
        x, g = (v.astype(np.float64) for v in (inputs[0], cotangents[0]))
        through = g.mean(-1, keepdims=True) / np.sqrt(x.var(-1, keepdims=True) + params["eps"])
        return [(found[0] + through).astype(inputs[0].dtype), *found[1:]]


def test_a_mean_held_constant():
    said = told(MeanConstant(), "layer_norm[x=7x33;normalized_shape=(33);f32]", G)
    assert said.startswith("every row of the gradient of x along axis 1 is off by a constant of its own, ")
    assert said.endswith(": as where the mean of the row is taken for a constant")


def test_shifts_of_a_row_that_has_no_statistic_are_shifts():
    def shifted(found, inputs):
        return [(found[0] + np.arange(1, 8).reshape(-1, 1)).astype(found[0].dtype)]

    said = told(Changed(shifted), "exp[x=7x33;f32]", G)
    assert said == "every row of the gradient of x along axis 1 is off by a constant of its own, 1 to 7"


def test_rows_that_are_off_by_one_constant_have_none_of_their_own():
    def shifted(found, inputs):
        return [(found[0] + 79.0625 * (inputs[0][:, :1] > 0)).astype(found[0].dtype)]

    said = told(Changed(shifted), "sin[x=7x33;f32]")
    assert said == "the wrong rows of y along axis 1 are off by one constant, 79.0625"


def test_channels_that_get_the_weight_of_another():
    def dealt(inputs, params):
        x, weight, bias = inputs
        return create().forward("group_norm", [x, weight[np.arange(6) % 2].copy(), bias], params)[0]

    said = told(Forward(dealt), "group_norm[x=2x6x5;weight=6,;bias=6,;num_groups=2;f32]")
    assert said == "channel c gets element c % 2 of weight, not element c"


def test_the_first_slice_everywhere():
    def first(found, inputs):
        return [np.broadcast_to(found[0][:1], found[0].shape).copy()]

    assert told(Changed(first), "exp[x=7x33;f32]") == "every slice of y along axis 0 is the first one"


def test_what_f16_and_tf32_have_in_common_is_said_of_both():
    def cut(inputs, params):
        return np.exp((inputs[0].view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32))

    said = told(Forward(cut), "exp[x=7x33;f32]")
    assert said == "looks like f16 or tf32 arithmetic: y is right for inputs truncated to f16 or tf32"


def _follows(backend, case):
    made = attempted(backend, case)
    assert made.judgement.verdict == "WRONG_VALUE"
    return precision.follows(list_wrong_tensors(made.posed, made.answer, made.judgement)[0])


def quick_gelu(inputs, params):
    x = inputs[0].astype(np.float64)
    return x / (1 + np.exp(-1.702 * x))


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_another_formula_is_no_precision(dtype):
    """Near enough to pass for bfloat16: its errors change their sign four times, not every second element."""
    case = f"gelu[x=7x33;{dtype}]"
    assert _follows(Forward(quick_gelu), case)
    said = told(Forward(quick_gelu), case)
    assert "arithmetic" not in said
    assert "declare it" not in said


@pytest.mark.parametrize("case", ["gelu[x=7x33;f32]", "gelu[x=7x33;approximate=tanh;f32]"])
def test_an_operator_with_fewer_parameters_is_named(case):
    assert told(Forward(quick_gelu), case) == "y is that of gelu_quick, not of gelu"


def test_one_with_a_default_is_named():
    def leaky(inputs, params):
        return np.where(inputs[0] < 0, 0.01 * inputs[0], inputs[0])

    assert told(Forward(leaky), "relu[x=7x33;f32]") == "y is that of leaky_relu, not of relu"


def test_rounding_follows_nothing():
    made = Changed(lambda found, inputs: [found[0].astype(np.float16).astype(np.float32)])
    assert not _follows(made, "gelu[x=7x33;f32]")


def test_one_number_declares_nothing():
    """A single bfloat16 that is a little off could be so for any reason."""
    said = told(
        Changed(lambda found, inputs: [(found[0] * 1.012).astype(found[0].dtype)]),
        "dot[a=97,;b=97,;bf16;fill=positive]",
    )
    assert "declare it" not in said


class Eps:
    """The numpy backend with another eps than it is asked for."""

    def __init__(self, eps):
        self.eps = eps

    def forward(self, op, inputs, params):
        return create().forward(op, inputs, {**params, "eps": self.eps})

    def vjp(self, op, inputs, params, cotangents, needs):
        return create().vjp(op, inputs, {**params, "eps": self.eps}, cotangents, needs)


@pytest.mark.parametrize("mode", ["forward", "gradient"])
def test_no_eps_and_the_default_one_are_both_named_where_neither_tells(mode):
    what = "y" if mode == "forward" else "the gradient of x"
    either, wide = f"{what} is that of eps=1e-05, its default, or of eps=0.0", "x=2x6x5;num_groups=3;f32;fill=small"
    narrow = "group_norm[x=2x6x7x5;weight=6,;num_groups=3;eps=0.1;f16]"
    made = attempted(Eps(0.0), narrow, mode)
    said = diagnose(made.posed, made.answer, made.judgement, made.rules)
    assert said == f"the parameter eps=0.1 is ignored: {either}"
    beside = [s for _, s in find_other_patterns(made.posed, made.answer, made.judgement, said)]
    for one in ("eps=0.0", "eps=1e-05, its default"):
        assert f"the parameter eps=0.1 is ignored: {what} is that of {one}" in beside
    alone = told(Eps(0.0), f"group_norm[{wide}]", mode)
    assert alone == f"the parameter eps=1e-05 is ignored: {what} is that of eps=0.0"


def test_the_default_eps_alone_is_named_where_it_tells():
    case = "layer_norm[x=7x33;normalized_shape=(33);eps=0.1;f32;fill=small]"
    assert told(Eps(1e-5), case).endswith(" is that of eps=1e-05, its default")


def normed_by_squares(inputs, params):
    """Groups of a norm, whose variance is E[x²] - E[x]² in float32."""
    x = inputs[0].astype(np.float32)
    rows = x.reshape(x.shape[0], params["num_groups"], -1)
    mean = rows.mean(-1, keepdims=True)
    variance = (rows * rows).mean(-1, keepdims=True) - mean * mean
    y = ((rows - mean) / np.sqrt(variance + np.float32(params["eps"]))).reshape(x.shape)
    for v, change in zip(inputs[1:3], (np.multiply, np.add), strict=False):
        y = y if v is None else change(y, v.reshape(-1, *[1] * (x.ndim - 2)))
    return y


def test_a_norm_by_squares_is_named_where_numbers_are_far_from_0():
    said = told(Forward(normed_by_squares), "group_norm[x=3x4x24;num_groups=2;f32;fill=offset-1e3]")
    assert said.startswith("y is wrong where numbers are far from 0 beside their spread")
    assert said.endswith("as where a variance is the difference of E[x²] and E[x]²")
    wrong = Changed(lambda found, inputs: [(1.01 * found[0]).astype(found[0].dtype)])
    assert "E[x²]" not in told(wrong, "group_norm[x=3x4x24;num_groups=2;f32;fill=offset-1e3]")
