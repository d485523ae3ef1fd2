"""ULP: their size at powers of two, below the normal numbers and past the last; errors of what is no number."""

import numpy as np
import pytest

from opproof.core.dtypes import DTYPES
from opproof.core.ulp import find_worst_ulp, measure_errors, measure_ulp

F32, F16 = DTYPES["f32"], DTYPES["f16"]


@pytest.mark.parametrize(
    ("value", "above", "below"),
    [
        (1.0, 2.0**-23, 2.0**-24),
        (-1.0, 2.0**-23, 2.0**-24),
        (1.5, 2.0**-23, 2.0**-23),
        (2.0 - 2.0**-30, 2.0**-23, 2.0**-23),
        (2.0, 2.0**-22, 2.0**-23),
        (2.0**-126, 2.0**-149, 2.0**-149),
        (2.0**-140, 2.0**-149, 2.0**-149),
        (0.0, 2.0**-149, 2.0**-149),
        (1e39, 2.0**104, 2.0**104),
        (np.inf, 2.0**104, 2.0**104),
    ],
)
def test_the_size_of_an_ulp(value, above, below):
    assert measure_ulp(np.array([value]), F32)[0] == above
    assert measure_ulp(np.array([value]), F32, smaller_side=True)[0] == below
    assert measure_ulp(np.array(value), F32) == above


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_normal_numbers_have_the_spacing_of_numpy(dtype):
    kind = DTYPES[dtype]
    values = np.linspace(1.0, 40000.0, 1001).astype(kind.numpy)
    assert np.array_equal(measure_ulp(values.astype(np.float64), kind), np.spacing(values).astype(np.float64))


@pytest.mark.parametrize(
    ("got", "expected", "size"),
    [
        (np.nan, np.nan, 0.0),
        (np.inf, np.inf, 0.0),
        (-np.inf, np.inf, np.inf),
        (1.0, np.nan, np.inf),
        (np.nan, 1.0, np.inf),
        (65504.0, np.inf, np.inf),
        (np.inf, 65504.0, 1.0),
        (np.inf, 1e9, 0.0),
        (65504.0, 1e9, 1.0),
        (-0.0, 0.0, 0.0),
        (2.0**-24, 0.0, 1.0),
        (1.0, 1.0 + 2.0**-11, 0.5),
    ],
)
def test_numbers_and_what_is_none(got, expected, size):
    values = np.array([expected])
    error = measure_errors(np.array([got], dtype=np.float16), values, F16)
    assert (error / measure_ulp(values, F16))[0] == size


def test_the_worst_element_is_named_and_what_is_right_otherwise_is_none():
    values = np.array([[1.0, 2.0], [4.0, 8.0]])
    got = values + np.array([[0.0, 2.0**-22], [3 * 2.0**-21, 0.0]])
    passed, bound = np.ones((2, 2), dtype=bool), np.full((2, 2), 1e-3)
    assert find_worst_ulp(got.astype(np.float32), values, "f32", passed, bound) == (3.0, (1, 0))
    kink = np.where(values == 8.0, 0.0, got).astype(np.float32)
    assert find_worst_ulp(kink, values, "f32", passed, bound) == (3.0, (1, 0))
    assert find_worst_ulp(kink, values, "f32", passed & (values < 8), bound) == (2.0**23, (1, 1))


def test_integers_have_no_ulp():
    whole = np.arange(4)
    passed, bound = np.ones(4, dtype=bool), np.zeros(4)
    assert find_worst_ulp(whole, whole, "i32", passed, bound) is None
    assert find_worst_ulp(whole.astype(float), whole.astype(float), "i32", passed, bound) is None
    assert find_worst_ulp(np.zeros(0), np.zeros(0), "f32", np.zeros(0, dtype=bool), np.zeros(0)) is None
