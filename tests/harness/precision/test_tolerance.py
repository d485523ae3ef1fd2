"""Tolerances: none smaller holds right kernels, what passes does pass assert_close, what fails fails there."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from _runs import opproof

from opproof.cases import Case
from opproof.core.errors import UsageError
from opproof.core.verdicts import Mode
from opproof.harness.precision.tolerance import draw_results, find_least, load_kernel, measure_tolerances
from opproof.harness.reference.question import make_question
from opproof.reference_ops import load
from opproof.reports.tolerance import NmseLimit, Tolerance
from opproof.reports.tolerance_chart import list_bars, render_tolerance_chart

ROOT = Path(__file__).parents[3]
SOFTMAX = "softmax[x=16x256;dim=-1;{}]"
LOOSE = Tolerance(1e-2, 1e-2)


def measured(text, mode=Mode.FORWARD, draws=2, given=None, **how):
    case = Case.parse(text)
    return measure_tolerances(draw_results(case, load(case.op), mode, draws, **how), given)


def test_the_least_pair_allows_all_errors_and_a_smaller_one_does_not():
    size = np.abs(np.random.default_rng(0).normal(size=1000))
    error = 1e-4 + 1e-3 * size
    pair = find_least(size, error)
    assert pair.allows(error, size).all()
    assert not Tolerance(pair.atol * 0.9, pair.rtol * 0.9).allows(error, size).all()
    assert pair.rtol == pytest.approx(1e-3, rel=0.15)
    assert pair.atol == pytest.approx(1e-4, rel=0.15)


def test_numbers_that_are_all_zero_have_an_atol_alone():
    assert find_least(np.zeros(4), np.full(4, 3e-5)) == Tolerance(3e-5, 0.0)
    assert find_least(np.ones(4), np.zeros(4)) == Tolerance(0.0, 0.0)


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_pytorchs_kernel_is_inside_and_half_of_its_own_pair_is_not_enough(dtype):
    case, op, ask = Case.parse(SOFTMAX.format(dtype)), load("softmax"), load_kernel("torch")
    of_any, of_one = (measured(str(case), draws=8, kernel=kernel)[0].tolerance for kernel in ("", "torch"))
    half, inside = Tolerance(of_one.atol / 2, of_one.rtol / 2), [0, 0, 0]
    for seed in range(8, 40):
        posed = make_question(case.with_seed(seed), op, Mode.FORWARD).case_data
        off = np.abs(ask(posed)[0].astype(np.float64) - posed.outputs[0])
        for i, pair in enumerate((of_any, of_one, half)):
            inside[i] += bool(pair.allows(off, posed.outputs[0]).all())
    assert inside[:2] == [32, 32]
    assert inside[2] < 32


def test_under_a_loose_tolerance_wrong_kernels_pass_by_name():
    (loose,) = measured(SOFTMAX.format("f32"), given=LOOSE)
    (least,) = measured(SOFTMAX.format("f32"))
    assert loose.passing["× 1.01"] == loose.passing["computed and added up in bf16"] == 2
    assert loose.passing["zeros"] == loose.passing["first and last row exchanged"] == 0
    assert [name for name, draws in least.passing.items() if draws] == ["digits cut off, not rounded"]
    assert loose.rejected == least.rejected == 0


def test_a_tolerance_that_right_kernels_break_says_at_how_many_elements():
    (report,) = measured(SOFTMAX.format("bf16"), given=Tolerance(0.0, 1e-3))
    assert report.rejected > 0.5


def test_what_passes_does_pass_assert_close_and_what_fails_fails():
    posed = make_question(Case.parse(SOFTMAX.format("f32")), load("softmax"), Mode.FORWARD).case_data
    (report,) = measured(SOFTMAX.format("f32"), draws=1, given=LOOSE)
    truth = torch.from_numpy(posed.outputs[0])
    for name, factor in {"× 1.01": 1.01, "zeros": 0.0}.items():
        try:
            torch.testing.assert_close(truth * factor, truth, rtol=1e-2, atol=1e-2)
        except AssertionError:
            assert report.passing[name] == 0
        else:
            assert report.passing[name] == 1


def test_a_limit_of_the_nmse_lets_pass_what_is_small_in_the_mean():
    """ggml's for products: a factor of 1.01 is 1e-4 of the mean square, a column in 64 that is missing 1.6e-2."""
    (loose,) = measured("matmul[a=8x256;b=256x64;f32]", given=NmseLimit(5e-4))
    (tight,) = measured("matmul[a=8x256;b=256x64;f32]", given=NmseLimit(1e-7))
    assert loose.passing["× 1.01"] == 2
    assert loose.excess["× 1.01"] == pytest.approx(0.2, rel=1e-3)
    assert loose.passing["last 1/64 of columns missing"] == tight.passing["× 1.001"] == 0
    assert loose.rejected == tight.rejected == 0
    assert measured("matmul[a=8x256;b=256x64;f32]", given=NmseLimit(1e-16))[0].rejected == 1


def test_a_chart_has_a_row_for_each_kernel_and_the_tolerance_as_a_line(capsys, tmp_path):
    file = tmp_path / "chart.svg"
    case = "matmul[a=8x256;b=256x64;f32]"
    code, _, _ = opproof(capsys, "tolerance", case, "--atol", "1e-9", "--draws", 1, "--chart", file)
    (report,) = measured(case, draws=1, given=Tolerance(1e-9, 0.0))
    right, *wrong = list_bars(report)
    assert (code, right.name, {bar.name for bar in wrong}) == (0, "right kernels", set(report.excess))
    assert right.least <= right.most
    assert right.most > 1
    assert report.rejected > 0
    assert all((bar.colour == "#b3221d") == bool(report.passing[bar.name]) for bar in wrong)
    drawn = ElementTree.fromstring(file.read_text())
    assert len(list(drawn.iter("{http://www.w3.org/2000/svg}title"))) == 1 + len(wrong)
    assert len([path for path in drawn.iter("{http://www.w3.org/2000/svg}path") if path.get("stroke-dasharray")]) == 1


def test_what_is_off_by_nothing_or_by_no_number_lies_at_an_end_of_the_chart():
    (report,) = measured(SOFTMAX.format("f32"), draws=1)
    ends = replace(report, excess={"the same": 0.0, "NaN": math.inf}, honest=(0.0, 0.5))
    rows = re.findall(r'd="M([0-9.]+) [0-9]+H([0-9.]+)"', render_tolerance_chart([("softmax", ends)]))
    assert rows[1:] == [("260.0", "260.0"), ("660.0", "660.0")]


REFERENCE = """
import torch
def reference(x, w):
    return torch.nn.functional.rms_norm(x, x.shape[-1:], w)
def inputs(seed, dtype):
    return [(16, 256), (256,)]
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rms.py"
    path.write_text(REFERENCE)
    return path


def test_a_function_of_a_file_has_the_pair_of_the_operator(capsys, file):
    case = "rms_norm[x=16x256;weight=256,;f32]"
    (operator,) = measured(case)
    code, out, _ = opproof(capsys, "tolerance", file, "--dtype", "f32", "--draws", 2, "--json")
    (found,) = json.loads(out)
    assert (code, found["result"]) == (0, "y0")
    assert found["rtol"] == pytest.approx(operator.tolerance.rtol, rel=0.5)
    assert found["nmse"] < 1e-12
    assert [name for name, draws in found["passing"].items() if draws] == ["digits cut off, not rounded"]


def test_gradients_of_a_file_and_pytorchs_own_kernel(capsys, file):
    code, out, _ = opproof(
        capsys, "tolerance", file, "--dtype", "bf16", "--mode", "gradient", "--draws", 1, "--kernel", "torch", "--json"
    )
    assert code == 0
    assert [found["result"] for found in json.loads(out)] == ["x", "w"]
    assert all(found["passing"]["× 1.01"] == 0 for found in json.loads(out))


def test_the_page_says_what_is_measured():
    """Of the published tolerances one row of each kind."""
    rows = json.loads((ROOT / "docs/data/tolerances.json").read_text())
    for name, limit in {"KernelBench": LOOSE, "ggml, test-backend-ops": NmseLimit(1e-7)}.items():
        row = next(r for r in rows if (r["tolerance"], r["dtype"]) == (name, "f32"))
        (report,) = measured("softmax[x=64x1024;dim=-1;f32]", given=limit)
        assert row["limit"] == str(limit)
        assert "softmax" not in row["rejected"]
        assert not report.rejected
        assert {n for n, draws in report.passing.items() if draws == 2} - {"last 1/64 of columns missing"} <= {
            *row["passing"]
        }


def test_gradients_have_a_tolerance_each():
    case = "layer_norm[x=8x64;weight=64,;bias=64,;normalized_shape=(64);f32]"
    assert [r.name for r in measured(case, Mode.GRADIENT)] == ["x", "weight", "bias"]


def test_whole_numbers_have_none():
    with pytest.raises(UsageError, match=r"no result holds floats that are rounded: compare with torch\.equal"):
        measured("argmax[x=4x33;dim=-1;f32]")


def test_the_command_prints_code_and_json(capsys):
    code, out, _ = opproof(capsys, "tolerance", SOFTMAX.format("f16"), "--draws", 1, "--code", "assert_close")
    assert code == 0
    assert "torch.testing.assert_close(got, expected, rtol=0.00052, atol=5.8e-08)" in out
    code, out, _ = opproof(capsys, "tolerance", SOFTMAX.format("f16"), "--draws", 1, "--json")
    (found,) = json.loads(out)
    assert found["result"] == "y"
    assert found["passing"]["zeros"] == 0
    assert found["rejected"] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["softmax[x=4x33"], "malformed case id"),
        ([SOFTMAX.format("f32"), "--kernel", "tosh"], "unknown backend 'tosh'"),
        (["set_rows[x=7x5;source=3x5;indices=3,;f32]", "--kernel", "onednn"], "onednn does not answer"),
        ([SOFTMAX.format("f32"), "--code", "asert_close"], "did you mean assert_close?"),
        ([SOFTMAX.format("f32"), "--dtype", "f16"], "--dtype is for a file"),
        ([SOFTMAX.format("f32"), "--nmse", "1e-7", "--rtol", "1"], "give it without --rtol"),
        (["nowhere.py"], "there is no file nowhere.py"),
        (["nowhere.py", "--kernel", "jax"], "of a file it is torch"),
    ],
)
def test_a_wrong_call_is_one_sentence(capsys, words, said):
    code, out, err = opproof(capsys, "tolerance", *words)
    assert (code, out) == (2, "")
    assert said in " ".join(err.split())
