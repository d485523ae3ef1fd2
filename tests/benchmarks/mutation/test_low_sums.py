"""Sums accumulated in 16 bits: what they are, and that they are seen wherever something is summed."""

import numpy as np
import pytest
from mutation.precision import accumulate_in, wrap_low
from mutation.trials import Trial, judge_mutant, make_trials, mutants_of, profile_of

from opproof.cases._registry import listed_cases
from opproof.core.verdicts import MODES
from opproof.harness.judge.judgement import judge
from opproof.reference_ops import load


@pytest.mark.parametrize("name", ["conv1d", "conv2d_depthwise", "conv_transpose1d", "get_rows_back", "ssm_conv"])
def test_low_sums_die(name):
    """Whatever sums: products of matrices, einsum, additions at indices."""
    op = load(name)
    for mode in MODES:
        for dtype in ("f16", "bf16") if not op.is_exact(mode) else ():
            posed = make_trials(op, mode, dtype, "standard")
            found = {m.name: m for m in mutants_of(profile_of(op, mode, dtype, posed))}
            assert judge_mutant(found[f"sums accumulated in {dtype}"], posed).killed_by


@pytest.mark.filterwarnings("ignore")  # NumPy says that it is a mean of nothing
@pytest.mark.parametrize("name", ["sum", "var", "conv2d", "cross_entropy", "rms_norm", "scatter_add", "ssm_conv"])
def test_low_sums_of_nothing(name):
    """An exception would be a kill that no case deserves."""
    f16 = [case for case in listed_cases(name) if case.dtype == "f16"]
    empty = [case for case in f16 if any(0 in shape for shape in case.shapes.values())]
    assert empty
    for mode in MODES:
        for case in empty:
            accumulate_in("f16")(Trial(case, load(name), mode, judge).call)


def test_low_sums_are_low():
    """4099 ones are 2048 in float16, 256 in bfloat16, however they are added."""
    ones, where = np.ones((1, 4099), np.float32), np.zeros(4099, int)
    for dtype, total in (("f16", 2048), ("bf16", 256)):
        given = wrap_low(ones, dtype)
        target = wrap_low(np.zeros(1, np.float32), dtype)
        np.add.at(target, where, given[0])
        sums = [np.sum(given), np.mean(given) * 4099, given @ given.T, np.einsum("ij,kj->ik", given, given), target]
        assert [float(np.asarray(s).reshape(-1)[0]) for s in sums] == pytest.approx([total] * 5)
        assert float(np.asarray(np.cumsum(given, axis=1))[0, -1]) == total


def test_low_scans_by_logaddexp_are_low():
    """The log of so many ones stops growing where a further one is less than half a step of the dtype."""
    nothing = np.zeros((1, 4099), np.float32)
    for dtype, total in (("f16", 6.238), ("bf16", 4.156)):
        scan = np.logaddexp.accumulate(wrap_low(nothing, dtype), axis=1)
        assert float(np.asarray(scan)[0, -1]) == pytest.approx(total, abs=0.001)
        assert float(np.asarray(scan)[0, -1]) < np.log(4099) - 1
        assert np.logaddexp.reduce(wrap_low(nothing, dtype), axis=1) == np.asarray(scan)[:, -1]
