"""How results are stored: truncation fails unless it is declared, in Python and in C; nearest always passes."""

import re

import numpy as np
import pytest
from _ask import judged
from _c_build import compiled, needs_cc
from _rounding_backend import C_DECLARES, C_SQUARE, Kernels, rounded, truncated

from opproof.backends.c.library import load
from opproof.harness.judge.array_statistics import Rounding, measure_array
from opproof.harness.judge.bound import compare
from opproof.harness.reference.question import Expected

CASES = ("square[x=64x65;bf16]", "rms_norm[x=33x65;weight=65,;bf16]")
SENTENCE = (
    r"every element is within its bound, but results are rounded towards zero \(truncated\), 0\.\d+ units too small "
    r'on average: round to nearest, or declare rounding -> "truncate"'
)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    def built(bias, declares=""):
        folder = tmp_path_factory.mktemp("rounding")
        text = C_SQUARE.replace("ROUND", bias) + (C_DECLARES % declares if declares else "")
        source = folder / "libsmall.so"
        assert compiled(folder, text + "\n#include <math.h>\n") == source
        return load(source)

    return built


@pytest.mark.parametrize("case", CASES)
def test_truncation_fails_undeclared(case):
    judgement = judged(Kernels(truncated), case)
    assert judgement.verdict == "WRONG_VALUE"
    assert re.fullmatch(SENTENCE, judgement.message)
    assert judgement.units <= 2.01
    assert -0.9 < judgement.figures.bias < -0.4


@pytest.mark.parametrize("case", CASES)
def test_truncation_passes_declared(case):
    judgement = judged(Kernels(truncated, "truncate"), case)
    assert (judgement.verdict, judgement.figures.rounding) == ("PASS", Rounding.TRUNCATE)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("declared", [None, "truncate"])
def test_nearest_passes(case, declared):
    judgement = judged(Kernels(rounded, declared), case)
    assert (judgement.verdict, judgement.figures.rounding) == ("PASS", Rounding.NEAREST)


@pytest.mark.parametrize("case", ["square[x=64x65;bf16;fill=constant]", "square[x=2,;bf16]"])
def test_few_values_tell_nothing(case):
    for store in (rounded, truncated):
        judgement = judged(Kernels(store), case)
        assert (judgement.verdict, judgement.figures.rounding) == ("PASS", Rounding.UNKNOWN)


@pytest.mark.parametrize("value", [1.0078125, 1.1171875, 1.4140625, 1.9921875])
@pytest.mark.parametrize(("store", "declared"), [(rounded, None), (rounded, "truncate"), (truncated, "truncate")])
def test_a_constant_that_fills_an_array(value, store, declared):
    """Its one rounding error is the array's bias: half an ulp, or nearly a whole one where it is cut off."""
    expected = Expected(np.full(1000, value**2), np.full(1000, 2.0**-17), faithful=True)
    got = store(np.full(1000, value**2, np.float32))
    comparison = compare(got, expected, "bf16")
    found = measure_array(got, expected, comparison, "bf16")
    assert comparison.passed.all()
    assert (found.objection, found.find_misrounding(declared)) == ("", "")


@pytest.mark.parametrize("case", CASES)
def test_a_factor_fails_though_truncation_is_declared(case):
    judgement = judged(Kernels(lambda y: truncated(0.99 * y), "truncate"), case)
    assert judgement.verdict == "WRONG_VALUE"


def test_a_word_that_nobody_knows_is_an_error():
    judgement = judged(Kernels(rounded, "up"), CASES[0])
    assert (judgement.verdict, judgement.message) == (
        "ERROR",
        "it declares the rounding 'up'; expected None or 'truncate'",
    )


@needs_cc
@pytest.mark.parametrize("case", CASES)
def test_in_c(library, case):
    undeclared = judged(library("0"), case)
    assert undeclared.verdict == "WRONG_VALUE"
    assert re.fullmatch(SENTENCE, undeclared.message)
    assert judged(library("0", "truncate"), case).verdict == "PASS"
    assert judged(library("0x7fff + (bits >> 16 & 1)"), case).verdict == "PASS"
    wrong = judged(library("0", "up"), case)
    assert (wrong.verdict, wrong.message) == ("ERROR", "it declares the rounding 'up'; expected None or 'truncate'")


@pytest.mark.parametrize("repeated", [False, True])
def test_rows_that_are_one_in_memory_do_not_tell_how_a_store_rounds(repeated):
    """63 errors, each of five elements: MLX's gradient of elu in f16 was 0.31 units too small by chance."""
    rng = np.random.default_rng(1)
    values = rng.uniform(1, 2, (5, 63))
    got = truncated(values)
    expected = Expected(values, np.full(values.shape, 2.0**-9), faithful=True)
    found = measure_array(got, expected, compare(got, expected, "bf16"), "bf16", repeated=repeated)
    assert found.rounding is (Rounding.UNKNOWN if repeated else Rounding.TRUNCATE)
