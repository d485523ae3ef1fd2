"""Where numbers leave a range: squares that overflow or vanish, masks that are true and not 1."""

import numpy as np
import pytest
from _ask import attempted

from opproof.harness.diagnose.diagnosis import diagnose


class Kernel:
    name = "kernel"

    def __init__(self, forward, vjp=None):
        self.wrong, self.backward = forward, vjp

    def forward(self, op, inputs, params):
        return [self.wrong(*inputs, **params)]

    def vjp(self, op, inputs, params, cotangents, needs):
        return self.backward(*inputs, *cotangents)


def said(kernel, case, mode="forward"):
    with np.errstate(all="ignore"):
        made = attempted(kernel, case, mode)
        return diagnose(made.posed, made.answer, made.judgement)


@pytest.mark.parametrize(
    ("true", "where"),
    [
        (lambda m: m == 1, "neither 0 nor 1"),
        (lambda m: m & 1, "even and not 0"),
        (lambda m: m > 0, "negative"),
        (lambda m: m.astype(np.int8) > 0, "below 0 or past 127"),
        (lambda m: m.astype(np.uint8), "a multiple of 256 and not 0"),
    ],
)
def test_masks_that_are_true_and_not_1(true, where):
    kernel = Kernel(lambda c, a, b: np.where(true(c), a, b))
    text = said(kernel, "where[condition=17x33;a=17x33;b=17x33;f32;fill=truths]")
    assert text == f"only the elements where condition is {where} of y are wrong"


def test_squares_that_overflow():
    def vjp(a, b, g):
        return [g * b / (a * a + b * b), -g * a / (a * a + b * b)]

    text = said(Kernel(np.arctan2, vjp), "atan2[a=9x33;b=9x33;f32;fill=squares]", "gradient")
    assert "whose squares" in text
    assert "f32" in text


def test_infinities_are_no_constant_of_a_row():
    text = said(Kernel(lambda a, b: np.sqrt(a * a + b * b)), "hypot[a=9x33;b=9x33;f32;fill=squares]")
    assert "constant of its own" not in text
    assert "overflow" in text
