"""A constant that is added is told with its size, also where it shows in the smallest results alone."""

import numpy as np
import pytest
from test_patterns import near, told

from opproof.core.dtypes import DECLARED

F, G = "forward", "gradient"


def plus(constant):
    backend = near(lambda y, x: (y + y.dtype.type(constant)).astype(y.dtype))
    backend.dtypes = DECLARED
    return backend


@pytest.mark.parametrize(
    ("constant", "case", "mode", "said"),
    [
        (0.25, "sin[x=7x33;f32]", F, "a constant is added to y: 0.25"),
        (-0.25, "sin[x=7x33;f32]", G, "a constant is added to the gradient of x: -0.25"),
        (0.25, "tanh[x=7x33;bf16]", F, "a constant is added to y: 0.25"),
        (1e-6, "sigmoid[x=5x31;f32;fill=wide]", F, "a constant is added to y: 1e-06"),  # seen below a tenth or so
        (-3e-6, "exp[x=7x33;f32;fill=wide]", F, "a constant is added to y: -3e-06"),
        (3, "sum[x=7x33;dim=-1;keepdim=false;i32]", F, "a constant is added to y: 3"),
    ],
)
def test_a_constant_is_told(constant, case, mode, said):
    assert told(plus(constant), case, mode) == said


def off(amounts):
    """Every element off by an amount of its own."""
    return near(lambda y, x: (y + amounts(np.random.default_rng(7), y)).astype(y.dtype))


@pytest.mark.parametrize(
    "amounts",
    [
        lambda rng, y: 1e-6 * rng.choice([-1, 1], y.shape),  # of one size, of two signs
        lambda rng, y: 1e-6 * rng.uniform(0.9, 1.1, y.shape),  # of one sign, nearly of one size
        lambda rng, y: 1e-6 * np.sqrt(np.abs(y)),
        lambda rng, y: 1e-6 * (np.arange(y.size).reshape(y.shape) % 2),  # in every second one
    ],
    ids=["signs", "sizes", "growing", "some"],
)
@pytest.mark.parametrize("case", ["sigmoid[x=5x31;f32;fill=wide]", "exp[x=7x33;f32;fill=wide]", "sin[x=7x33;f32]"])
def test_errors_that_are_not_the_same_are_no_constant(amounts, case):
    assert "a constant is added" not in told(off(amounts), case)


def test_digits_lost_are_no_constant():
    lost = near(lambda y, x: ((y + np.float32(1)) - np.float32(1)).astype(y.dtype))
    assert "of one size" in told(lost, "sigmoid[x=5x31;f32;fill=wide]")
