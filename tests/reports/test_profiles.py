"""Standards beside our own bound: who exceeds one and keeps the other, what they do not speak of, the tables."""

import re
from dataclasses import replace

import numpy as np
import pytest
import report_samples as samples
from _runs import opproof

from opproof.cases import cases_of
from opproof.core.dtypes import DTYPES
from opproof.core.tuples import tuple_of
from opproof.core.verdicts import Mode
from opproof.harness.reference.question import make_question, name_outputs
from opproof.reference_ops import load, names
from opproof.reports import StandardVerdict, Ulp, html, markdown, read_results, terminal
from opproof.reports.profiles import BEYOND, SILENT, WITHIN, list_profiles
from opproof.reports.profiles.limits import (
    JudgedCall,
    JudgedResult,
    _compile,
    count_steps,
    judge_by_standard,
    read_profile,
)
from opproof.reports.profiles.table import describe_profile
from opproof.reports.tables import COLUMNS, write_csv

OFF_BY = """
import numpy as np

version, device = "1", "bench"
ULPS = {ulps}


def supports(op, dtypes, params):
    return True


def forward(op, inputs, params):
    x = inputs[0].astype(np.float64)
    y = {{"exp": np.exp, "rsqrt": lambda v: 1 / np.sqrt(v), "pow": lambda v: np.power(v, 2.0)}}[op](x)
    got = y.astype(inputs[0].dtype)
    got[3, 4] += got.dtype.type(ULPS * np.spacing(got[3, 4]))
    return got
"""


def run(capsys, tmp_path, ulps, op, *args):
    backend = tmp_path / "off_by.py"
    backend.write_text(OFF_BY.format(ulps=ulps), encoding="utf-8")
    call = ("run", "-b", backend, "-o", op, "-k", "7x33", "--dtype", "f32", "--level", "smoke", "--mode", "forward")
    code, said, err = opproof(capsys, *call, "-j", 1, "--in-process", "--out", tmp_path / "out", *args)
    return code, said + err, read_results(tmp_path / "out")[1] if (tmp_path / "out").exists() else []


def test_a_record_says_its_largest_error_in_ulp_and_where(capsys, tmp_path):
    code, _, (record, *_) = run(capsys, tmp_path, 3, "exp")
    assert code == 0
    assert record.ulp.tensor == "y"
    assert record.ulp.index == (3, 4)
    assert 2.5 <= record.ulp.size <= 3.5
    assert record.standard is None


def test_who_keeps_ours_may_exceed_the_standard(capsys, tmp_path):
    code, said, (record, *_) = run(capsys, tmp_path, 4, "rsqrt", "--profile", "opencl-3.0")
    assert code == 0
    assert record.verdict == "PASS"
    assert record.standard.verdict == BEYOND
    assert record.standard.share == pytest.approx(2, abs=0.3)
    assert (record.standard.limit, record.standard.index) == ("2 ulp", (3, 4))
    assert "OpenCL C 3.0: 0 of 1 operator within its limits, 1 beyond them (rsqrt[x=7x33;f32]" in said
    assert "1 pass  1 beyond" in said


def test_who_keeps_the_standard_may_exceed_ours(capsys, tmp_path):
    code, said, (record, *_) = run(capsys, tmp_path, 200, "exp", "--profile", "onnx-28")
    assert code == 1
    assert record.verdict == "WRONG_VALUE"
    assert record.standard.verdict == WITHIN
    assert 150 < record.ulp.size < 250
    assert "by the standard: 0.0" in said
    assert "1 of 1 operator within its limits" in said


def test_an_unknown_profile_is_one_sentence(capsys, tmp_path):
    code, said, _ = run(capsys, tmp_path, 0, "exp", "--profile", "opencl-2.0")
    assert code == 2
    assert "'opencl-2.0' is not one of 'onnx-28', 'opencl-3.0'," in said
    assert "did you mean opencl-3.0?" in said


def cases_with(op_name, dtype):
    """The cases of an operator in a dtype, those of the smoke level first."""
    every = (c for level in ("smoke", "standard") for c in cases_of(op_name, level, load(op_name).rows))
    return (c for c in every if c.dtype == dtype)


def call_of(op_name, dtype):
    """A call of the first case of an operator, and its outputs."""
    op = load(op_name)
    case = next(c for c in cases_with(op_name, dtype))
    posed = make_question(case, op, Mode.FORWARD).case_data
    given = {n or op.tensors[i]: v for i, (n, v) in enumerate(zip(posed.names, posed.inputs, strict=True))}
    call = JudgedCall(op_name, dtype, given, posed.params, lambda *v: tuple_of(op.forward(*v, **posed.params)))
    outputs = zip(name_outputs(op, len(posed.outputs)), posed.outputs, strict=True)
    results = [
        JudgedResult(str(n), i, y.astype(DTYPES[dtype].numpy) if y.dtype.kind == "f" else y, y, np.ones(y.shape, bool))
        for i, (n, y) in enumerate(outputs)
    ]
    return call, results


@pytest.mark.parametrize("profile", list_profiles())
def test_a_correctly_rounded_answer_keeps_every_row(profile):
    """Each row is evaluated, so no formula names what is not there."""
    standard, known, silent = read_profile(profile), set(names()), []
    for clause in standard.clause:
        assert clause.link.startswith("https://")
        for limit in clause.limits:
            assert set(limit.ops or standard.ops) <= known
            for op in limit.ops or standard.ops[::12]:
                for dtype in (d for d in clause.dtypes if any(cases_with(op, d))):
                    said = judge_by_standard(profile, *call_of(op, dtype))
                    assert said.verdict in (WITHIN, SILENT), (op, dtype, said)
                    floats = any(r.values.dtype.kind == "f" for r in call_of(op, dtype)[1])
                    silent += [(op, dtype)] * (said.verdict == SILENT and floats)
    assert silent == []


def test_every_row_has_a_limit_beyond_which_something_is():
    for profile in list_profiles():
        for clause in read_profile(profile).clause:
            for limit in clause.limits:
                op, dtype = (limit.ops or ("exp",))[0], clause.dtypes[0]
                call, results = call_of(op, dtype)
                off = np.full_like(results[0].got, 1e3)
                wrong = [replace(results[0], got=off, passed=np.zeros(off.shape, bool))]
                assert judge_by_standard(profile, call, wrong).verdict == BEYOND, (profile, op)


def test_flushed_numbers_are_right_where_the_standard_flushes():
    tiny = np.array([2.0**-130, 1.0])
    call = JudgedCall("mul", "f32", {"a": tiny, "b": np.ones(2)}, {}, lambda a, b: (a * b,))
    got = [JudgedResult("y", 0, np.array([0.0, 1.0], np.float32), tiny, np.ones(2, bool))]
    assert judge_by_standard("opencl-3.0", call, got).verdict == WITHIN
    assert judge_by_standard("webnn", call, got).verdict == BEYOND


def test_what_a_standard_does_not_speak_of():
    call, results = call_of("exp", "f32")
    assert judge_by_standard("stablehlo", call, results) == StandardVerdict(verdict=SILENT)
    assert judge_by_standard("opencl-3.0", None, []).verdict == SILENT
    assert judge_by_standard("opencl-3.0", replace(call, dtype="f64"), results).verdict == SILENT
    one = replace(call, op="pow", params={"exponent": 2.0})
    assert judge_by_standard("tosa-1.0", one, results).verdict == SILENT  # its formula is of two tensors


def test_the_bound_of_a_dot_product_grows_with_its_terms():
    a, b = np.ones((2, 64)), np.ones((64, 2))
    call = JudgedCall("matmul", "f32", {"a": a, "b": b}, {}, lambda a, b: (a @ b,))
    for error, verdict in ((60 * 64 * 2.0**-24, WITHIN), (130 * 64 * 2.0**-24, BEYOND)):
        got = [JudgedResult("y", 0, (a @ b + error).astype(np.float32), a @ b, np.ones((2, 2), bool))]
        assert judge_by_standard("tosa-1.0", call, got).verdict == verdict


def test_steps_are_those_of_the_numbers():
    kind = DTYPES["f16"]
    got = np.array([1.0, -0.0, 2.0**-24, -(2.0**-24), np.nan, np.inf], dtype=np.float16)
    expected = np.array([1.0 - 2.0**-11, 0.0, 0.0, 2.0**-24, np.nan, 65504.0])
    assert list(count_steps(got, expected, kind)) == [1, 0, 1, 2, 0, 1]


@pytest.mark.parametrize("formula", ["__import__('os')", "x.size", "[1]", "lambda: 0", "abs(x)[0]"])
def test_a_formula_only_computes(formula):
    if formula.startswith("__"):  # a name without a meaning
        assert "__import__" in _compile(formula).co_names
        return
    with pytest.raises(SyntaxError, match="a limit may not have"):
        _compile(formula)


def test_all_reports_have_both_columns():
    standard = StandardVerdict(verdict=BEYOND, share=1.5, limit="3 ulp", clause="Table 1", tensor="y", index=(2, 0))
    ulp = Ulp(size=4.5, tensor="y", index=(2, 0))
    one = replace(samples.result("exp[x=3x1;f32]", "forward", units=1.0), standard=standard, ulp=ulp)
    other = replace(one, op="abs", case="abs[x=3x1;f32]", standard=StandardVerdict(verdict=SILENT), ulp=None)
    header = replace(samples.header(2), options={"profile": "opencl-3.0"})
    sentence = describe_profile(header, [one, other])
    assert sentence == (
        "OpenCL C 3.0: 0 of 1 operator within its limits, 1 beyond them "
        "(exp[x=3x1;f32] 1.5 times the limit (3 ulp) at y[2, 0]), it says nothing of 1 operator"
    )
    text = terminal.format_summary(header, [one, other])
    assert sentence in text
    assert re.search(r"exp +1 pass +1 beyond +1\.5 times the limit \(3 ulp\) at y\[2, 0\] +4\.5 at y\[2, 0\]", text)
    table = markdown.render(header, [one, other])
    assert "| exp | 1 pass | 1 beyond |" in table
    assert "| abs | 1 pass | says nothing |" in table
    page = html.render(header, [one, other])
    assert "1 beyond them" in page
    assert '"standard":[[' in page
    assert describe_profile(samples.header(2), [one, other]) == ""


def test_the_csv_has_ulp_and_the_standard(tmp_path):
    ulp = Ulp(size="inf", tensor="y", index=(2, 0))
    one = replace(samples.result("exp[x=3x1;f32]", "forward"), ulp=ulp, standard=StandardVerdict(verdict=SILENT))
    with (tmp_path / "r.csv").open("w", newline="", encoding="utf-8") as file:
        write_csv([one], file)
    row = dict(zip(COLUMNS, (tmp_path / "r.csv").read_text(encoding="utf-8").splitlines()[1].split(","), strict=True))
    assert (row["ulp"], row["ulp_tensor"], row["ulp_index"], row["standard"]) == ("inf", "y", "2 0", SILENT)


def test_records_of_older_files_are_read(tmp_path):
    header = b'{"opproof":"0.1.0","schema":1}\n'
    line = b'{"case":"exp[x=3,;f32]","op":"exp","dtype":"f32","backend":"torch","mode":"forward","verdict":"PASS"}\n'
    (tmp_path / "results.jsonl").write_bytes(header + line)
    _, (record,) = read_results(tmp_path)
    assert (record.ulp, record.standard) == (None, None)
