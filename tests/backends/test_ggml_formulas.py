"""The formulas of ggml's known failures give what the library gives, bit for bit where order decides."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import opproof.backends
from opproof.cases import Case
from opproof.core.verdicts import Mode
from opproof.harness.known_failures.causes import function_of
from opproof.harness.reference.question import make_question
from opproof.reference_ops import load

FOLDER = Path(opproof.backends.__file__).parent / "ggml"


@pytest.fixture(scope="module")
def ggml():
    pytest.importorskip("pywhispercpp", reason="ggml: the wheel of pywhispercpp has the library")
    from opproof.backends.ggml import create

    return create()


@pytest.mark.parametrize("n", [2, 5, 16, 17, 64, 257, 1031])
@pytest.mark.parametrize("descending", [False, True])
def test_the_sort_is_that_of_the_library(ggml, n, descending):
    rng = np.random.default_rng(n)
    x = rng.integers(-3, 4, (6, n)).astype(np.float32)
    x[3:][rng.random((3, n)) < 0.05] = np.nan
    params = {"dim": -1, "descending": descending}
    ours = function_of(str(FOLDER), "sort_unstably")(x.astype(np.float64), **params)
    np.testing.assert_array_equal(ggml.forward("argsort", [x], params)[0], ours)


def test_the_place_of_the_largest_is_that_of_the_library(ggml):
    rng = np.random.default_rng(7)
    x = rng.integers(-2, 3, (40, 9)).astype(np.float32)
    x[10:][rng.random((30, 9)) < 0.3] = np.nan
    x[-1] = np.nan
    ours = function_of(str(FOLDER), "take_last_largest")(x.astype(np.float64), dim=-1)
    np.testing.assert_array_equal(ggml.forward("argmax", [x], {"dim": -1, "keepdim": False})[0], ours)


def test_the_largest_of_a_window_is_that_of_the_library(ggml):
    rng = np.random.default_rng(8)
    x = rng.integers(-2, 3, (2, 3, 9, 10)).astype(np.float32)
    x[rng.random(x.shape) < 0.3] = np.nan
    x[0, 0] = -np.inf
    params = {"kernel_size": 3, "stride": 2, "padding": 1, "dilation": 1, "ceil_mode": False}
    ours = function_of(str(FOLDER), "keep_lowest")(x.astype(np.float64), **params)[0]
    np.testing.assert_array_equal(ggml.forward("max_pool2d", [x], params)[0], ours.astype(np.float32))


def test_a_place_of_another_tensor_is_told_from_the_layout():
    elsewhere = function_of(str(FOLDER), "rows_elsewhere")

    def rows(case):
        parsed = Case.parse(case)
        return elsewhere(make_question(parsed, load(parsed.op), Mode.FORWARD).case_data)

    assert not rows("leaky_relu[x=2x3x65;negative_slope=1.5;f32]").any()
    assert not rows("leaky_relu[x=2x3x65;negative_slope=1.5;f32;layout=gapped]").any()  # rows are as far apart
    cropped = rows("leaky_relu[x=2x3x65;negative_slope=1.5;f32;layout=cropped]")
    assert not cropped[0].any()
    assert cropped[1].all()
