"""Each pattern says its sentence where it is so, and nothing where it nearly is."""

import numpy as np
import pytest
from _ask import attempted
from _planted import DEFECTS, Planted

from opproof.backends.numpy import create
from opproof.harness.diagnose.diagnosis import diagnose


class Changed:
    """The numpy backend; what it gives is changed by a function of the results and the inputs."""

    def __init__(self, change):
        self.change = change

    def forward(self, op, inputs, params):
        return self.change(create().forward(op, inputs, params), inputs)

    def vjp(self, op, inputs, params, cotangents, needs):
        return self.change(create().vjp(op, inputs, params, cotangents, needs), inputs)


def told(backend, case, mode="forward"):
    made = attempted(backend, case, mode)
    assert made.judgement.verdict in ("WRONG_VALUE", "WRONG_GRADIENT")
    return diagnose(made.posed, made.answer, made.judgement, made.rules)


def planted(name):
    return Planted(next(d for d in DEFECTS if d.name == name))


F, G = "forward", "gradient"
NAN_TWICE = (
    "y is NaN everywhere, as it is with eps=0.0 for eps=1e-05, or if the storage offset of weight and bias is ignored"
)


HELD = (
    "every row of the gradient of x along axis 1 is off by {}, of its own: as where a statistic of the row (its sum, "
    "mean, norm or variance) is taken for a constant"
)


@pytest.mark.parametrize(
    ("defect", "case", "mode", "sentence"),
    [
        # What was added to is what was stored, and so rounded twice.
        ("plus a half", "grid_sample[x=1x65x3x4;grid=1x3x2x2;bf16]", F, "a constant is added to y: 0.5"),
        # Where one number is expected everywhere, that one number is there says nothing.
        ("halved", "fill[x=1x1025;value=2.5;f16]", F, "every element of y is 1/2 × the expected value"),
        # Half of an infinity is one.
        (
            "halved",
            "sinh[x=3x33;f16;fill=extreme;layout=sliced]",
            G,
            "every element of the gradient of x is 1/2 × the expected value",
        ),
        # Of the gradient of x alone that of beta=0.5 is as good; of all three gradients a half is.
        (
            "halved",
            "addmv[x=31,;a=31x33;b=33,;f32]",
            G,
            "every element of the gradient of x is 1/2 × the expected value",
        ),
        # A gradient that was made of a saved output, rounded to 16 bits.
        (
            "off by one in memory",
            "celu[x=7x33;bf16]",
            G,
            "the gradient of x is off by one along axis 1: element i holds the value of i - 1",
        ),
        (
            "parameters swapped",
            "clamp[x=2x3x4x7;min=None;max=-0.5;f32;fill=wide;layout=permuted]",
            F,
            "the parameters min and max are swapped",
        ),
        (
            "offset ignored",
            "set_rows[x=9x63;source=4x63;indices=4,;f16;layout=offset]",
            F,
            "the storage offset of x and source is ignored: it is read from the storage's beginning",
        ),
        (
            "tf32 inputs",
            "elu[x=9x33;alpha=0.1;f32;fill=least]",
            F,
            "looks like tf32 arithmetic: y is right for inputs truncated to tf32",
        ),
        # The one element with the largest |x| of 231.
        ("NaN at |x| > 3", "softsign[x=7x33;f32]", F, "only the elements where |x| ≥ 3.28 of y are NaN"),
        (
            "wrong at kinks",
            "leaky_relu[x=2x3x9;negative_slope=0.1;bf16;fill=kink;layout=transposed]",
            G,
            "only the elements at kinks or ties of the gradient of x are wrong",
        ),
        # Past 8 there are right elements too.
        (
            "wrong at x > 1.5",
            "softplus[x=3x15;bf16;fill=candle-2114]",
            G,
            "only the elements where x ≥ 3.625 of the gradient of x are wrong",
        ),
        # Few elements are wrong; all are what they are with the parameter.
        (
            "default instead",
            "gelu[x=1x1x97x1;approximate=tanh;bf16]",
            G,
            "the parameter approximate=tanh is ignored: the gradient of x is that of approximate=none, its default",
        ),
        # No element is wrong by itself.
        (
            "eps outside the root",
            "layer_norm[x=2x1031;normalized_shape=(1031);f32]",
            F,
            "eps stands outside the root: 1 / (√q + eps) in place of 1 / √(q + eps)",
        ),
        (
            "a term left out of a row's sum",
            "log_softmax[x=2x3x9x5;dim=1;f32;layout=cropped]",
            F,
            "every row of y along axis 1 is off by a constant of its own, 0.00758907 to 2.45926",
        ),
        (
            "a term left out of a row's sum",
            "softmax[x=7x25;dim=0;f32;fill=special-columns]",
            F,
            "every row of y along axis 0 is a factor of its own × the expected one, 1.0052 to 1.61082",
        ),
        (
            "offset ignored",
            "atan[x=0d;bf16;layout=offset]",
            G,
            "the gradient of x is NaN everywhere, as it is if the storage offset of x is ignored",
        ),
        (
            "strides ignored",
            "l2_norm[x=3x33;dim=-1;f32;fill=extreme;layout=sliced]",
            G,
            "the gradient of x is NaN everywhere, as it is if the strides of x are ignored",
        ),
        (
            "no eps",
            "group_norm[x=3x4x1;weight=4,;bias=4,;num_groups=4;eps=0.1;f32]",
            F,
            "y is NaN everywhere, as it is with eps=0.0 for eps=0.1",
        ),
        (
            "f16 arithmetic",
            "conv1d[x=1x31x8;weight=3x31x3;stride=3;padding=1;dilation=2;f32]",
            G,
            "looks like f16 arithmetic: every element of the gradient of x is a number of f16",
        ),
        (
            "one key more",
            "scaled_dot_product_attention[query=1x1x5x4;key=1x1x5x4;value=1x1x5x4;is_causal=true;f32]",
            F,
            "the causal mask has another edge: query i sees key i + 1",
        ),
        (
            "heads in turn",
            "scaled_dot_product_attention[query=1x4x3x8;key=1x2x5x8;value=1x2x5x8;enable_gqa=true;bf16]",
            F,
            "head h reads keys and values of group h % 2, not of group h // 2",
        ),
        (
            "channels dealt in turn",
            "group_norm[x=2x6x5;num_groups=2;f16]",
            F,
            "channel c belongs to group c % 2, not to group c // 3",
        ),
        (
            "last of equal indices",
            "index_select[x=5x3;index=7,;dim=0;f32]",
            G,
            "where index names one place more than once, the gradient of x has the last term alone, not the sum",
        ),
        (
            "variance of samples",
            "layer_norm[x=5x9;weight=9,;bias=9,;normalized_shape=(9);f32]",
            F,
            "the variance is divided by n - 1, as of samples, not by n = 9",
        ),
        (
            "the row's statistic held constant",
            "rms_norm[x=6x33;weight=33,;bf16;layout=transposed]",
            G,
            HELD.format("a multiple of x"),
        ),
        (
            "the row's statistic held constant",
            "layer_norm[x=6x11;weight=11,;bias=11,;normalized_shape=(11);f32]",
            G,
            HELD.format("a multiple of x and a constant"),
        ),
        (
            "the row's statistic held constant",
            "softmax[x=7x33;dim=-1;f16]",
            G,
            HELD.format("a multiple of the output"),
        ),
        (
            "16-bit accumulator",
            "sum[x=3x768;dim=1;f16]",
            F,
            'passes if its sums are accumulated in f16: declare it (compute -> "f16"), or accumulate in float32',
        ),
        # One row is right by its numbers, one wrong for another reason than NaN: its exponentials are subnormal.
        (
            "no maximum subtracted",
            "softmax[x=33x3;dim=-1;f32;fill=extreme]",
            F,
            (
                "y is wrong in rows whose largest x is ≥ 88.7 or ≤ -87.3 alone, where exp leaves the range of f32: "
                "as if the row's maximum were not subtracted"
            ),
        ),
        (
            "digits lost near 1",
            "sigmoid[x=5x31;f32;fill=wide]",
            F,
            (
                "y has errors of one size, however small it is (at most 2.3 × the unit roundoff): "
                "as where 1 is added and taken away again"
            ),
        ),
    ],
)
def test_it_is_told(defect, case, mode, sentence):
    assert told(planted(defect), case, mode) == sentence


@pytest.mark.parametrize(
    ("defect", "case", "mode", "sentence"),
    [
        # Errors of a fifth show only where the value is not next to nothing: that is no region.
        ("noise, no pattern", "tanhshrink[x=2x257;f16;fill=zeros]", F, ""),
        ("noise, no pattern", "maximum[a=5x7;b=5x7;f16;fill=exact]", G, ""),
        # The rows that are wrong have one factor.
        (
            "last row wrong",
            "im2col_back[grad=2x3x4x12;size=(4,5);kernel_size=2;bf16;fill=special]",
            F,
            "only the elements of slice 1 of 2 along axis 0 of y are wrong",
        ),
        # x is the same all along axis 0, and with it any factor that x decides.
        (
            "sibling",
            "hardswish[x=5x63;f32;layout=broadcast]",
            G,
            "the gradient of x is that of silu, not of hardswish",
        ),
        # Both the storage before weight and bias, and an eps of 0, make NaN of it.
        (
            "no eps",
            "layer_norm[x=5x1;weight=1,;bias=1,;normalized_shape=(1);bf16;layout=weight:offset,bias:offset]",
            F,
            NAN_TWICE,
        ),
        # A row of one number, twice, beside zeros has any factor.
        ("wrong at kinks", "amax[x=6x3;dim=-1;bf16;fill=ties]", G, ""),
        # A root that was rounded to f16 makes a factor of every row too, now above one and now below.
        (
            "16-bit intermediates",
            "rms_norm[x=6x11;f16;fill=small]",
            F,
            "looks like f16 arithmetic: the errors of y are 0.49 units of it",
        ),
        # Of equal indices one term alone would be as wrong in other rows.
        (
            "last row wrong",
            "index_select[x=4x3;index=7,;dim=0;f32]",
            G,
            "only the elements of the last slice along axis 0 of the gradient of x are wrong",
        ),
        # One sum may be off for any reason.
        ("last term dropped", "logsumexp[x=9,;dim=0;bf16]", F, ""),
    ],
)
def test_a_near_miss_is_told_as_what_it_is(defect, case, mode, sentence):
    assert told(planted(defect), case, mode) == sentence


def near(change):
    return Changed(lambda results, inputs: [change(y, inputs[0]).astype(y.dtype) for y in results])


def uneven(y, x):
    return y + 0.5 + 0.1 * np.linspace(-1, 1, y.size).reshape(y.shape)


def second_largest(y, x):
    """NaN at the second largest x alone."""
    at = np.unravel_index(np.argsort(x, axis=None)[-2], x.shape)
    y = y.copy()
    y[at] = np.nan
    return y


def coarse(y, x):
    """Numbers of f16, but far from what is expected: their being so is the data's."""
    return (y * (1 + 0.3 * np.cos(np.arange(y.size)).reshape(y.shape))).astype(np.float16)


def beside_kink(y, x):
    """One more at the element after the kink."""
    y = y.copy()
    y.reshape(-1)[np.flatnonzero(x.reshape(-1) == 0)[0] + 1] += 1
    return y


def beyond_x(y, x):
    """Off by x, more and less from element to element."""
    return y + 0.2 * x * (1 + 0.3 * np.cos(np.arange(y.size)).reshape(y.shape))


@pytest.mark.parametrize(
    ("change", "case", "mode"),
    [
        (uneven, "exp[x=7x33;bf16]", F),
        (second_largest, "softsign[x=7x33;f32]", F),
        (coarse, "exp[x=7x33;f32]", F),
        (beyond_x, "softmax[x=7x33;dim=-1;f32]", G),
        (lambda y, x: y + 0.1 * x, "tanh[x=7x33;f32]", G),
        (beside_kink, "leaky_relu[x=2x3x9;negative_slope=0.1;bf16;fill=kink;layout=transposed]", G),
    ],
)
def test_what_is_nearly_so_is_not_told(change, case, mode):
    assert told(near(change), case, mode) == ""


def test_nan_where_nothing_lies_around_is_not_blamed_on_the_layout():
    assert told(near(lambda y, x: y * np.nan), "atan[x=0d;bf16]") == ""
    assert told(near(lambda y, x: y * np.nan), "group_norm[x=2x4x5;num_groups=2;f32]") == "y is NaN everywhere"


def test_errors_in_proportion_are_not_of_one_size():
    """As small beside 1 as digits lost there, and on the smallest elements alone; but they shrink with them."""

    def smallest_off(results, inputs):
        (y,) = results
        return [np.where(y < 0.01, y * np.float32(1 + 2**-16), y)]

    said = told(Changed(smallest_off), "sigmoid[x=5x31;f32;fill=wide]")
    assert "of one size" not in said
    assert said.startswith("only the elements where")


class WithoutOne:
    """The numpy backend; what comes in for one output is taken for zeros, or for half of it."""

    def __init__(self, output, factor=0.0):
        self.output, self.factor = output, factor

    def forward(self, op, inputs, params):
        return create().forward(op, inputs, params)

    def vjp(self, op, inputs, params, cotangents, needs):
        given = list(cotangents)
        given[self.output] = (given[self.output] * self.factor).astype(given[self.output].dtype)
        return create().vjp(op, inputs, params, given, needs)


@pytest.mark.parametrize(
    ("case", "output", "name"),
    [
        ("add_rms_norm[x=7x33;residual=7x33;weight=33,;f32]", 1, "sum"),
        ("add_rms_norm[x=7x33;residual=7x33;weight=33,;f16]", 0, "y"),
        ("fft[re=5x9;im=5x9;f32]", 1, "im"),
    ],
)
def test_the_cotangent_of_one_output_is_ignored(case, output, name):
    said = told(WithoutOne(output), case, "gradient")
    assert said.startswith(f"the cotangent of {name} is ignored: the gradient of ")
    assert said.endswith(" is that of zeros there")
    assert "is ignored" not in told(WithoutOne(output, 0.5), case, "gradient")


@pytest.mark.parametrize(
    ("signs", "said"), [((1, -1), "infinite"), ((1,), "inf"), ((-1,), "-inf")], ids=["both", "above", "below"]
)
def test_what_is_infinite_is_no_threshold(signs, said):
    def change(found, inputs):
        wrong = np.isinf(found[0]) & np.isin(np.sign(found[0]), signs)
        return [np.where(wrong, 7, found[0]).astype(found[0].dtype)]

    text = told(Changed(change), "add[a=81,;b=81,;f32;fill=special-pairs]")
    assert text == f"only the elements where the expected value is {said} of y are wrong"


def test_what_is_wrong_by_its_size_is_not_so_as_an_integer():
    """From 2^23 on all numbers of f32 are integers."""

    def change(found, inputs):
        large = np.abs(inputs[0].astype(np.float32)) > 2.0**17
        return [np.where(large & np.isfinite(inputs[0]), 0, found[0]).astype(found[0].dtype)]

    assert "integer" not in told(Changed(change), "sin[x=127,;f32;fill=extreme]")
    said = told(Changed(change), "sin[x=256x256;f32;fill=every]")
    assert said.startswith("only the elements where |x| ≥ 1.3")


def test_truth_values_are_not_those_of_a_formula():
    def inverted(found, inputs):
        return [(inputs[0] == 0).astype(found[0].dtype)]

    said = told(Changed(inverted), "bitwise_not[x=5x31;f32]")
    assert "that of" not in said
    assert "is that of bitwise_or, not of bitwise_and" in told(
        Changed(lambda found, inputs: [np.bitwise_or(*inputs)]), "bitwise_and[a=66,;b=66,;f32]"
    )


@pytest.mark.parametrize(
    ("case", "mode"),
    [
        ("softmax[x=7x33;dim=-1;f32]", F),
        ("softmax[x=7x33;dim=-1;f32]", G),
        ("matmul[a=7x33;b=33x5;f32]", F),
        ("layer_norm[x=7x33;normalized_shape=(33);f32]", F),
        ("scaled_dot_product_attention[query=4x4x5x8;key=4x4x7x8;value=4x4x7x8;f32]", F),
    ],
)
def test_nan_is_told_as_nan_not_as_what_does_not_enter(case, mode):
    """Rows of minus infinity would make NaN of it too, as much else would."""

    def last(value):
        def change(y, x):
            y = y.copy()
            y[-1:] = value
            return y

        return near(change)

    said = told(last(np.nan), case, mode)
    assert "enter" not in said
    assert "ignored" not in said
    assert said.startswith("only the elements of the last slice along axis 0 of ")
    assert said.endswith(" are NaN")


class LastForgotten:
    """The numpy backend; the last slice of the first input is taken for zeros."""

    def forward(self, op, inputs, params):
        x = inputs[0].copy()
        x[..., -1] = 0
        y = create().forward(op, [x, *inputs[1:]], params)[0].copy()
        y[0] = np.nan
        return [y]


def test_what_does_not_enter_is_told_where_all_numbers_say_so():
    """A row of NaN is not of it."""
    assert "enter" not in told(LastForgotten(), "matmul[a=7x33;b=33x5;f32]")
    assert "does not enter y" in told(planted("last term dropped"), "matmul[a=7x33;b=33x5;f32]")
