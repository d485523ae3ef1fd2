"""Formats of numbers against those who define them, and the names that others call them by."""

import ml_dtypes
import numpy as np
import pytest

from opproof.core.dtypes import DECLARED, DTYPES, FLOATS, round_to
from opproof.core.errors import suggest


@pytest.mark.parametrize("name", DTYPES)
def test_characteristics(name):
    dtype = DTYPES[name]
    if dtype.whole:
        limits = np.iinfo(dtype.numpy)
        assert (dtype.min, dtype.max, dtype.u) == (limits.min, limits.max, 0)
        return
    limits = ml_dtypes.finfo(dtype.numpy)
    assert (dtype.min, dtype.max) == (float(limits.min), float(limits.max))
    assert (dtype.tiny, dtype.subnormal) == (float(limits.smallest_normal), float(limits.smallest_subnormal))
    assert 2 * dtype.u == float(limits.eps)
    assert dtype.has_infinity == bool(np.isinf(np.array(np.inf).astype(dtype.numpy).astype(np.float64)))


def test_those_that_every_backend_is_asked_for_come_first():
    assert tuple(DTYPES) == (*FLOATS, *DECLARED) == ("f64", "f32", "f16", "bf16", *DECLARED)


def test_rounding():
    given = np.array([-300.0, -1.5, 0.5, 2.5, 1e9])
    assert round_to(given, DTYPES["i8"]).tolist() == [-128, -2, 0, 2, 127]
    assert round_to(given, DTYPES["u8"]).tolist() == [0, 0, 0, 2, 255]
    assert round_to(np.array([1.0625, 464, 465]), DTYPES["f8e4m3"]).tolist()[:2] == [1.0, 448]
    assert np.isnan(round_to(np.array(465.0), DTYPES["f8e4m3"]))
    assert round_to(np.array([1.125, 61440]), DTYPES["f8e5m2"]).tolist() == [1.0, np.inf]


@pytest.mark.parametrize(
    ("other", "ours"),
    [
        ("fp8", "f8e4m3"),
        ("float8_e5m2", "f8e5m2"),
        ("e4m3fn", "f8e4m3"),
        ("int8", "i8"),
        ("uint8", "u8"),
        ("s32", "i32"),
    ],
)
def test_names_of_others(other, ours):
    assert suggest(other, DTYPES) == f"; did you mean {ours}?"
