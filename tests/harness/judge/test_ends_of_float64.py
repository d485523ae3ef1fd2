"""Near the ends of float64 a bound is what honest rounding makes there, though no square of it is a number."""

import numpy as np
import pytest
from _ask import judged

CASE = "silu[x=66x11;f64;fill=branches]"
LONG = np.longdouble


class Silu:
    """In numbers of more digits and a wider range, rounded once; `factor` times that below -700."""

    name = "long double"

    def __init__(self, factor):
        self.factor = factor

    def forward(self, op, inputs, params):
        x = inputs[0].astype(LONG)
        return [self._stored(x, x / (1 + np.exp(-x)))]

    def vjp(self, op, inputs, params, cotangents, needs):
        x = inputs[0].astype(LONG)
        s = 1 / (1 + np.exp(-x))
        return [self._stored(x, cotangents[0] * s * (1 + x * (1 - s)))]

    def _stored(self, x, y):
        return np.where(x < -700, y * self.factor, y).astype(np.float64)


@pytest.mark.skipif(np.finfo(LONG).maxexp <= 1024, reason="long double is float64 here")
@pytest.mark.parametrize("mode", ["forward", "gradient"])
def test_more_digits_are_right_and_fewer_wrong(mode):
    with np.errstate(all="ignore"):
        assert judged(Silu(1), CASE, mode).verdict == "PASS"
        assert judged(Silu(1 + 1e-12), CASE, mode).verdict in ("WRONG_VALUE", "WRONG_GRADIENT")


def test_what_an_absolute_error_leaves_open_far_below_it():
    """celu's gradient from the saved output, y / alpha + 1: off by a roundoff of 1, where the gradient is 1e-178."""

    class Celu(Silu):
        def forward(self, op, inputs, params):
            return [np.where(inputs[0] > 0, inputs[0], 2.5 * np.expm1(np.minimum(inputs[0], 0) / 2.5))]

        def vjp(self, op, inputs, params, cotangents, needs):
            (y,) = self.forward(op, inputs, params)
            return [cotangents[0] * np.where(inputs[0] > 0, 1, self.factor * (y / 2.5 + 1))]

    case = "celu[x=66x11;alpha=2.5;f64;fill=branches]"
    assert judged(Celu(1), case, "gradient").verdict == "PASS"
    assert judged(Celu(1 + 1e-12), case, "gradient").verdict == "WRONG_GRADIENT"
