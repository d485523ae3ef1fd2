"""Within a rounding of a kink a gradient may be that of either side; further away it may not, nor be another value."""

import numpy as np
import pytest
from _ask import judged

from opproof.backends.numpy import NumPy

BRANCHES = "hardsigmoid[x=66x11;f32;fill=branches]"


class Textbook(NumPy):
    """hardsigmoid and hardswish by relu6(x + 3), whose sum decides the branch after it was rounded."""

    def __init__(self, factor=1.0, nearest=0.0):
        self.factor, self.nearest = np.float32(factor), np.float32(nearest)

    def vjp(self, op, inputs, params, cotangents, needs):
        (x,), (g,) = inputs, cotangents
        six = np.float32(6)
        inside = (x + np.float32(3) > self.nearest) & (x + np.float32(3) < six - self.nearest)
        if op == "hardswish":
            slope = np.where(x + np.float32(3) >= six, 1, (2 * x + np.float32(3)) / six)
            return [(g * slope * (x + np.float32(3) > 0) * self.factor).astype(x.dtype)]
        return [np.where(inside, g / six, 0).astype(x.dtype) * self.factor]


def test_a_branch_that_is_taken_after_rounding():
    x = np.float32(3) - np.float32(2.0**-22)
    assert x < 3
    assert x + np.float32(3) == 6
    assert judged(Textbook(), BRANCHES, "gradient").verdict == "PASS"
    assert judged(Textbook(), BRANCHES.replace("sigmoid", "swish"), "gradient").verdict == "PASS"


@pytest.mark.parametrize(
    "wrong", [Textbook(factor=1.01), Textbook(nearest=0.5)], ids=["another slope", "a kink further away"]
)
def test_what_is_not_between_both_sides_fails(wrong):
    assert judged(wrong, BRANCHES, "gradient").verdict == "WRONG_GRADIENT"


def test_the_convention_of_pytorch_decides():
    assert judged(Textbook(), BRANCHES, "gradient", convention="torch").verdict == "WRONG_GRADIENT"


class Doubled(NumPy):
    """relu whose gradient is twice too large for the smallest numbers: 0 is a kink, and near it nothing rounds."""

    def vjp(self, op, inputs, params, cotangents, needs):
        (x,), (g,) = inputs, cotangents
        return [np.where(x > 0, np.where(x < 1e-30, 2 * g, g), 0).astype(x.dtype)]


def test_at_zero_nothing_is_rounded_away():
    assert judged(Doubled(), "relu[x=9x33;f32;fill=least]", "gradient").verdict == "WRONG_GRADIENT"


class Flushing(NumPy):
    """Gradients of what was read with subnormals as zero."""

    def __init__(self, factor=1.0):
        self.factor = factor

    def vjp(self, op, inputs, params, cotangents, needs):
        (x,) = inputs
        tiny = np.finfo(np.float32).tiny if x.dtype != np.float64 else np.finfo(np.float64).tiny
        read = np.where(np.abs(x) < tiny, np.copysign(0, x), x).astype(x.dtype)
        slope = np.where(read >= 0, 1, params.get("negative_slope", -1.0))
        small = (x != 0) & (read == 0)
        return [(cotangents[0] * np.where(small, self.factor, 1) * slope).astype(x.dtype)]


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("case", ["leaky_relu[x=9x33;negative_slope=0.1;{};fill=least]", "abs[x=9x33;{};fill=least]"])
def test_the_side_of_a_number_that_is_flushed_to_the_kink(case, dtype):
    """JAX does so on x86: of -1e-39 the gradient of abs is 1."""
    text = case.format(dtype)
    assert judged(Flushing(), text, "gradient").verdict == "PASS"
    assert judged(Flushing(), text, "gradient", strict_subnormals=True).verdict == "WRONG_GRADIENT"
    assert judged(Flushing(1.5), text, "gradient").verdict == "WRONG_GRADIENT"
