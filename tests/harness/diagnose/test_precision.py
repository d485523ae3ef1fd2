"""Errors are those of a precision where they have its size, beside what is expected and beside each other."""

import numpy as np
import pytest
from test_patterns import near, told


def uneven(size):
    """Relative errors of both signs, up to `size`, in no order."""

    def change(y, x):
        return y * (1 + size * np.random.default_rng(1).uniform(-1, 1, y.shape))

    return near(change)


def test_errors_of_the_size_of_a_precision_are_told():
    assert told(uneven(2.0**-8), "exp[x=7x33;f32]").startswith("looks like bf16 arithmetic: the errors of y are 0.")
    said = told(uneven(2.0**-11), "exp[x=7x33;f32]")
    assert said.startswith("looks like f16 or tf32 arithmetic: the errors of y are 0.")


@pytest.mark.parametrize("size", [0.2, 0.28, 0.6])
def test_a_quarter_is_no_precision_however_much_cancels(size):
    """A sum in bf16 of thousands of numbers of both signs may be as far off; what looks like that is a formula's."""
    change = near(lambda y, x: y * (1 + size * np.array([1, -1])))
    assert "arithmetic" not in told(change, "sum[x=2x16385;dim=1;f32]")


def test_a_few_errors_among_many_smaller_ones_are_no_precision():
    """Of log(1 + x): the smallest lose all their digits, most next to none."""
    change = near(lambda y, x: np.log(np.float32(1) + x))
    assert "arithmetic" not in told(change, "log1p[x=6x11;f32;fill=small]")
