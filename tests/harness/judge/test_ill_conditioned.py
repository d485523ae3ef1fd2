"""A variance as the difference of two means of squares fails clearly where the mean is large; honest ones pass."""

import numpy as np
import pytest
from _ask import judged

from opproof.backends.numpy import NumPy
from opproof.cases import Case
from opproof.cases._registry import listed_cases

UNITS = 100  # of the 16 allowed: far beyond any doubt
OF_MANY = 80  # of a layer norm of a thousand numbers, whose rounding averages out


def one_pass(x, axes):
    """E[x^2] - E[x]^2, each mean in float32."""
    return np.mean(x * x, axis=axes, keepdims=True) - np.mean(x, axis=axes, keepdims=True) ** 2


def two_pass(x, axes):
    return np.mean((x - np.mean(x, axis=axes, keepdims=True)) ** 2, axis=axes, keepdims=True)


def welford(x, axes):
    """Welford, Note on a method for calculating corrected sums of squares and products (1962)."""
    axes = tuple(a % x.ndim for a in axes)
    rows = np.moveaxis(x, axes, range(-len(axes), 0)).reshape(*(n for a, n in enumerate(x.shape) if a not in axes), -1)
    mean, squares = np.zeros_like(rows[..., 0]), np.zeros_like(rows[..., 0])
    for k in range(rows.shape[-1]):
        step = rows[..., k] - mean
        mean = mean + step / np.float32(k + 1)
        squares = squares + step * (rows[..., k] - mean)
    return np.expand_dims(squares / np.float32(rows.shape[-1]), axes)


class OfVariance(NumPy):
    """Operators of a variance with `variance(x, axes)`, biased, in float32."""

    def __init__(self, variance):
        self.variance = variance

    def forward(self, op, inputs, params):
        with np.errstate(invalid="ignore"):  # the root of a variance below 0
            return self.outputs(op, inputs, params)

    def outputs(self, op, inputs, params):
        x, *rest = inputs
        if op in ("var", "std"):
            axes = (params["dim"],)
            n = x.shape[params["dim"]]
            y = np.squeeze(self.variance(x, axes), axes) * np.float32(n / (n - params.get("correction", 1)))
            return [np.sqrt(y) if op == "std" else y]
        split, axes, channels = x, tuple(range(2, x.ndim)), (1, -1, *(1,) * (x.ndim - 2))
        if op == "layer_norm":
            axes, channels = (-1,), (-1,)
        elif op == "batch_norm":
            axes, rest = (0, *axes), rest[2:]
        elif op == "group_norm":
            split = x.reshape(x.shape[0], params["num_groups"], -1)
            axes = (2,)
        centred = split - np.mean(split, axis=axes, keepdims=True)
        y = (centred / np.sqrt(self.variance(split, axes) + np.float32(params.get("eps", 1e-5)))).reshape(x.shape)
        weight, bias = rest
        return [(y * weight.reshape(channels) + bias.reshape(channels)).astype(np.float32)]


NAMES = ("var", "std", "layer_norm", "batch_norm", "group_norm", "instance_norm")
CASES = [
    c
    for name in NAMES
    for c in map(str, listed_cases(name))
    if Case.parse(c).fill in ("offset-1e3", "offset-1e4") and Case.parse(c).dtype == "f32"
]


def test_every_variance_is_tried():
    of_each = range(3)  # of few numbers, farther off, of many
    assert [c.partition("[")[0] for c in CASES] == [name for name in NAMES for _ in of_each]


@pytest.mark.parametrize("case", CASES)
def test_one_pass_fails_clearly(case):
    judgement = judged(OfVariance(one_pass), case)
    assert judgement.verdict == "WRONG_VALUE"
    assert judgement.units > (OF_MANY if "normalized_shape=(1031)" in case else UNITS)


@pytest.mark.parametrize("variance", [two_pass, welford])
@pytest.mark.parametrize("case", CASES)
def test_honest_variances_pass(case, variance):
    assert judged(OfVariance(variance), case).verdict == "PASS"


class Eliminating(NumPy):
    """Inverses and gradients of determinants in float64, of which some are off by a share `off`."""

    def __init__(self, off):
        self.off = off

    def forward(self, op, inputs, params):
        return [np.linalg.inv(inputs[0]) * (1 + self.off)]


@pytest.mark.parametrize("text", ["inverse[x=17x13x13;f64;fill=outliers]", "inverse[x=9x8x8;f64;fill=outliers]"])
def test_elimination_errs_by_what_rows_with_a_large_element_leave_in_others(text):
    """LAPACK's own inverse is 100 units off by what rounds in its rows alone, and 2 by what rounds in L U."""
    assert judged(Eliminating(0.0), text, "forward").verdict == "PASS"
    assert judged(Eliminating(2.0**-36), text, "forward").verdict == "WRONG_VALUE"


def test_pytorchs_elimination_passes():
    from opproof.backends.torch import create

    for case in ("inverse[x=17x13x13;f64;fill=outliers]", "det[x=1x8x8x8x8;f64;fill=outliers;layout=x:sliced]"):
        for mode in ("forward", "gradient"):
            assert judged(create(), case, mode).verdict == "PASS"


def test_a_score_whose_last_digit_is_large_moves_its_exponential_by_any_factor():
    """Scores near 10^9 are rounded by 32 in float32: small noise says nothing of exp of their differences."""
    text = (
        "softmax_ext[x=13x1x2x1x8x13;mask=8x13;keep=8x13;scale=0.3;max_bias=4.0;f32;mixed=mask:f16;fill=farther;"
        "layout=x:sliced,mask:permuted,keep:transposed]"
    )
    assert judged(Softmax(1.0), text).verdict == "PASS"
    assert judged(Softmax(1.001), text).verdict == "WRONG_VALUE"


class Softmax:
    """A float32 softmax of scaled and biased scores, times a factor."""

    mixed = True

    def __init__(self, factor):
        self.factor = np.float32(factor)

    def forward(self, op, inputs, params):
        x, mask, _, keep = (None if v is None else v.astype(np.float32) for v in inputs)
        scores = x * np.float32(params["scale"]) + np.float32(2 ** -params["max_bias"]) * mask
        scores = np.where(keep != 0, scores, -np.inf)
        e = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True) * self.factor
