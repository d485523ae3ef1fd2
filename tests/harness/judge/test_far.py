"""At infinity a gradient may be NaN, as the formula has it, or its limit; nothing else, and nothing else elsewhere."""

import numpy as np
import pytest
from _ask import judged

from opproof.backends.numpy import NumPy

CASES = (
    "silu[x=9x33;f32;fill=infinite]",
    "gelu[x=9x33;approximate=tanh;f32;fill=infinite]",
    "mish[x=9x33;f32;fill=infinite]",
)


class Limits(NumPy):
    """The reference's own gradients, `above` times the cotangent at +inf and 0 at -inf."""

    def __init__(self, above=1.0):
        self.above = np.float32(above)

    def vjp(self, op, inputs, params, cotangents, needs):
        (x,), (g,) = inputs, cotangents
        (found,) = super().vjp(op, inputs, params, cotangents, needs)
        return [np.where(np.isinf(x), np.where(x > 0, self.above * g, 0 * g), found).astype(x.dtype)]


@pytest.mark.parametrize("case", CASES)
def test_the_limit_is_right(case):
    assert judged(NumPy(), case, "gradient").verdict == "PASS"
    assert judged(Limits(), case, "gradient").verdict == "PASS"


@pytest.mark.parametrize("above", [0.0, 1.01, -1.0, np.inf])
@pytest.mark.parametrize("case", CASES)
def test_another_number_is_wrong(case, above):
    assert judged(Limits(above), case, "gradient").verdict == "WRONG_GRADIENT"


class Finite(NumPy):
    """NaN for the largest numbers that are finite, where the reference has a number."""

    def vjp(self, op, inputs, params, cotangents, needs):
        (found,) = super().vjp(op, inputs, params, cotangents, needs)
        return [np.where(np.abs(inputs[0]) > 1e30, np.nan, found).astype(inputs[0].dtype)]


def test_nan_of_a_number_is_wrong():
    assert judged(Finite(), "silu[x=256x256;f32;fill=every]", "gradient").verdict == "WRONG_GRADIENT"
