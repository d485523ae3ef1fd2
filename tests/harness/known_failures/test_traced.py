"""Functions differentiated step by step: the gradients they should have, and the defects that their steps have."""

import numpy as np
import pytest

from opproof.backends.traced import (
    Traced,
    compute_in_float32,
    cos,
    derivative_of,
    exp,
    half_exp,
    length_with_one,
    log,
    magnitude,
    mean,
    mean_square,
    relu,
    reshape_value,
    root,
    sigmoid,
    sin,
    sum_over_axes,
    take_larger,
    where,
)
from opproof.harness.reference.rounded_arithmetic import iter_arithmetics, unwrap, wrap

X = np.array([[0.25, -0.5, 1.5], [2.0, -3.0, 0.75]])
G = np.array([[1.0, -2.0, 0.5], [3.0, 0.25, -1.0]])


def slope(function, x, g, step=1e-6):
    """The gradient by central differences."""
    found = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        d = np.zeros(x.shape)
        d[i] = step
        found[i] = np.sum(g * (function(x + d) - function(x - d))) / (2 * step)
    return found


STEPS = {
    "sum": lambda x: x + 2 * x - 1 + (3 - x),
    "product": lambda x: x * x * 0.5,
    "quotient": lambda x: x / (2 + x * x) + 1 / (3.5 + x),
    "exp": lambda x: exp(x) - half_exp(-x),
    "log": lambda x: log(magnitude(x)),
    "root": lambda x: root(magnitude(x)) + length_with_one(x),
    "sigmoid": lambda x: sigmoid(x * 1.5),
    "sin": lambda x: sin(x) + cos(2 * x),
    "relu": lambda x: relu(x) - take_larger(x, 1.0),
    "mean": lambda x: (x - mean(x, (1,))) / root(mean_square(x, (1,)) + 1e-3),
    "total": lambda x: x * sum_over_axes(x * x, (0, 1), 3) + reshape_value(reshape_value(x, (3, 2)), (2, 3)),
    "where": lambda x: where(np.arange(3) > 0, x * x, 2 * x),
}


@pytest.mark.parametrize("name", STEPS)
def test_gradients_of_steps(name):
    function = STEPS[name]
    assert np.allclose(derivative_of(function)(G, None, X), slope(function, X, G), rtol=1e-6, atol=1e-7)


def test_gradients_of_several_tensors():
    """What is broadcast gets a sum, what is absent or left out gets none."""

    def affine(x, weight, bias=None, *, twice):
        return x * weight * (2 if twice else 1)

    weight = np.array([1.0, 2.0, 3.0])
    of_x, of_weight, of_bias = derivative_of(affine)(G, None, X, weight, None, twice=True)
    assert np.array_equal(of_x, 2 * G * weight)
    assert np.array_equal(of_weight, np.sum(2 * G * X, axis=0))
    assert of_bias is None
    assert np.array_equal(derivative_of(lambda x: np.ones(3))(G, None, X), np.zeros(X.shape))


def test_steps_keep_what_they_lose():
    """Both branches are differentiated, products overflow first, and the sign of 0 has no gradient."""
    with np.errstate(all="ignore"):
        elu = derivative_of(lambda x: relu(x) - relu(1 - exp(x)))
        assert np.isnan(elu(np.array([1.0]), None, np.array([1e4]))).all()
        first = derivative_of(lambda x: x * (0.5 * exp(-(x * x))))
        assert np.isnan(first(np.array([1e300]), None, np.array([1e300]))).all()
    assert derivative_of(lambda x: magnitude(x) * 3)(np.array([1.0]), None, np.array([0.0])) == 0
    assert derivative_of(lambda x: take_larger(x, 1.0))(np.array([1.0]), None, np.array([1.0])) == 0.5


def test_steps_in_float16():
    """An exponential overflows where it is stored, a widened step not before its result is."""
    x = wrap(np.array([11.5]), next(iter_arithmetics("f16", "f32", "key")))
    assert np.isinf(unwrap(exp(x))).all()
    assert np.isfinite(unwrap(derivative_of(exp)(wrap(np.array([2.0**-7]), x.arithmetic), None, x))).all()
    rows = wrap(np.array([[300.0, 1.0, 2.0]]), x.arithmetic)
    assert np.isinf(unwrap(np.sum(rows * rows, axis=1))).all()
    assert np.isfinite(unwrap(mean_square(rows, (1,)))).all()
    assert unwrap(compute_in_float32(lambda v: v / 3, x)) == np.float16(11.5 / 3)


def test_cosine_of_float32():
    """pi / 2 in float32 less itself is 0, and so is the sine of float32's pi."""
    x = wrap(
        np.array([np.float32(np.pi / 2), -np.float32(np.pi / 2)], dtype=np.float64),
        next(iter_arithmetics("f32", "f32", "key")),
    )
    assert np.array_equal(unwrap(cos(x)), [0.0, 0.0])
    assert abs(sin(np.array([12345.678]))[0] - np.sin(12345.678)) > 1e-7


def test_a_traced_value_leaves_arrays_to_itself():
    assert isinstance(X * Traced(X), Traced)
    assert isinstance(X + Traced(X), Traced)
