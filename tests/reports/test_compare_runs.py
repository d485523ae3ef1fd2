"""What is worse than the baseline fails, all else does not; unlike runs are not compared."""

import time
from dataclasses import replace

import pytest
import report_samples as samples
from _runs import CASE, SELECTION, opproof, write_run

from opproof.reports.changes import compare_runs

OTHER = "gelu[x=4x33;f16]"
PASS = samples.result(CASE, "forward", units=0.8, seconds=1.0)
FAIL = replace(PASS, verdict="WRONG_VALUE", units=5e3, diagnosis="a factor of 2")


@pytest.fixture
def compare(tmp_path, capsys):
    def call(before, after, *options, **header):
        write_run(tmp_path / "a", before)
        write_run(tmp_path / "b", after, **header)
        return opproof(capsys, "compare", tmp_path / "a", tmp_path / "b", *options)

    return call


def test_the_same_run_is_no_regression(compare):
    run = samples.run(1)
    status, out, _ = compare(run, run)
    assert status == 0
    assert out == f"No regression in {len(run)} records compared.\n"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (PASS, FAIL, "1 newly failing"),
        (replace(PASS, verdict="UNSUPPORTED"), FAIL, "1 newly failing"),
        (replace(FAIL, known="it was known"), replace(FAIL, verdict="CRASH"), "1 newly failing"),
        (replace(FAIL, known="it was known"), replace(FAIL, units=5e5), "1 newly failing"),
        (replace(PASS, verdict="HARNESS_ERROR", units=None), FAIL, "1 newly failing"),
        (PASS, replace(PASS, verdict="UNSUPPORTED", units=None), "1 no longer proved"),
        (PASS, replace(PASS, verdict="VACUOUS"), "1 no longer proved"),
        (PASS, replace(PASS, units=6.5), "larger errors in 1 place"),
        (replace(PASS, units=0.0), replace(PASS, units=4.1), "larger errors in 1 place"),
        (PASS, replace(FAIL, case=OTHER), "Nothing was compared"),
    ],
)
def test_worse(compare, before, after, said):
    status, out, _ = compare([before], [after])
    assert said in out.splitlines()[-1]
    assert status == (3 if "Nothing" in said else 1)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (FAIL, PASS, "1 no longer failing"),
        (FAIL, replace(FAIL, verdict="CRASH"), "other changes of verdict (1)"),
        (PASS, replace(FAIL, known="it is known"), "WRONG_VALUE (known)"),
        (replace(FAIL, known="it was known"), FAIL, "No regression"),
        (replace(FAIL, known="it was known"), replace(FAIL, units=3e4), "No regression"),
        (FAIL, replace(FAIL, known="it is known"), "No regression"),
        (replace(PASS, verdict="HARNESS_ERROR", units=None), PASS, "other changes of verdict (1)"),
        (PASS, replace(PASS, units=6.3), "No regression"),
        (replace(PASS, units=0.01), replace(PASS, units=3.9), "No regression"),
        (PASS, replace(PASS, seconds=50.0), "No regression"),
    ],
)
def test_not_worse(compare, before, after, said):
    status, out, _ = compare([before], [after])
    assert said in out
    assert status == 0


def test_growth_has_a_limit_of_its_own(compare):
    grown = replace(PASS, units=2.0)
    assert compare([PASS], [grown], "--max-units-growth", 2)[0] == 1
    assert compare([PASS], [grown], "--max-units-growth", 3)[0] == 0


@pytest.mark.parametrize("option", ["--max-units-growth", "--max-rms-growth"])
@pytest.mark.parametrize("value", ["nan", "-1", "0.5", "-inf", "some"])
def test_a_limit_that_is_none_is_refused(compare, option, value):
    status, out, err = compare([PASS], [FAIL], option, value)
    assert (status, out) == (2, "")
    assert f"Invalid value for '{option}': " in err
    assert err.splitlines()[-1].endswith(("is not in the range x>=1.", "is not a valid float range."))


@pytest.mark.parametrize("before", [PASS, FAIL, replace(PASS, verdict="UNSUPPORTED"), None])
def test_what_opproof_failed_on_is_no_regression_and_no_success(compare, before):
    fault = replace(PASS, mode="gradient", verdict="HARNESS_ERROR", units=None, message="the reference raised KeyError")
    old = [PASS] if before is None else [PASS, replace(before, mode="gradient")]
    status, out, _ = compare(old, [PASS, fault])
    assert status == 4
    count = len(old)
    last = f"No regression in {count} record{'s' * (count > 1)} compared; opproof itself failed on 1 record: "
    assert out.splitlines()[-1] == f"{last}the reference raised KeyError."
    assert "opproof itself failed (1)" in out
    assert fault.repro in out
    assert compare([PASS], [FAIL, fault])[0] == 1


def test_the_largest_error_of_an_operator_counts_not_that_of_a_case(compare):
    large = replace(PASS, case=CASE.replace("4x33", "9x33"), units=3.0)
    assert compare([PASS, large], [replace(PASS, units=7.0), large])[0] == 0
    assert compare([PASS, large], [replace(PASS, units=7.0), large], "--max-units-growth", 2)[0] == 1


WHOLE = replace(PASS, rms=0.4, bias=0.1, limit=16.0)


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (replace(WHOLE, rms=1.3), "softmax f32 forward: RMS 0.4 → 1.3, 3.2 times"),
        (replace(WHOLE, bias=-0.5), "softmax f32 forward: bias 0.1 → -0.5, 5 times"),
        (replace(WHOLE, rms=2.2, bias=1.2), "softmax f32 forward: RMS 0.4 → 2.2, 5.5 times"),
    ],
)
def test_a_whole_array_that_grew_is_worse_though_no_element_did(compare, after, said):
    status, out, _ = compare([WHOLE], [after])
    assert status == 1
    assert said in out
    assert out.splitlines()[-1] == "Regression: larger errors in 1 place, of 1 record compared."


@pytest.mark.parametrize(
    "after",
    [
        replace(WHOLE, rms=1.19),
        replace(WHOLE, bias=-0.44),
        replace(WHOLE, rms=None, bias=None),
        replace(WHOLE, rms=0.0, bias=0.0),
    ],
)
def test_a_whole_array_may_vary(compare, after):
    assert compare([WHOLE], [after])[0] == 0
    assert compare([replace(WHOLE, rms=0.01, bias=0.001)], [replace(WHOLE, rms=0.7, bias=0.4)])[0] == 0
    assert compare([replace(WHOLE, rms=None, bias=None)], [replace(WHOLE, rms=2.0, bias=1.0)])[0] == 0


def test_the_growth_of_rms_and_bias_has_a_limit_of_its_own(compare):
    grown = replace(WHOLE, rms=0.9)
    assert compare([WHOLE], [grown], "--max-rms-growth", 2)[0] == 1
    assert compare([WHOLE], [grown], "--max-units-growth", 2)[0] == 0
    assert compare([WHOLE], [replace(WHOLE, rms=2.0)], "--max-rms-growth", 6)[0] == 0


def test_errors_grow_as_shares_of_their_limits(compare):
    large = replace(PASS, case=CASE.replace("4x33", "9x33"), units=2.0, limit=16.0)
    small = replace(PASS, units=0.3, limit=3.0)
    status, out, _ = compare([large, small], [large, replace(small, units=2.9)], "--max-units-growth", 4)
    assert status == 1
    assert "softmax f32 forward: 2 of 16 → 2.9 of 3 units, 7.7 times" in out
    assert compare([large], [replace(large, units=2.9, limit=14.0)], "--max-units-growth", 4)[0] == 0


def test_a_known_failure_may_not_grow_where_bits_had_to_be_met(compare):
    known = replace(FAIL, known="it was known", limit=0.0)
    assert compare([known], [replace(FAIL, limit=0.0, units=5e5)])[0] == 1
    assert compare([known], [replace(FAIL, limit=0.0, units=6e3)])[0] == 0


def test_a_failure_is_explained(compare):
    _, out, _ = compare([PASS], [FAIL])
    assert f"{CASE}  forward  torch: PASS → WRONG_VALUE, 0.8 → 5e3 units" in out
    assert "a factor of 2" in out
    assert FAIL.repro in out


def test_new_and_vanished_cases(compare):
    new = replace(PASS, case=OTHER, op="gelu", dtype="f16")
    status, out, _ = compare([PASS, replace(PASS, mode="gradient")], [PASS, new])
    assert status == 0
    assert "The registry of cases changed (1 record new, 1 vanished" in out
    assert f"new (1)\n  {OTHER}  forward  torch" in out
    assert f"vanished (1)\n  {CASE}  gradient  torch" in out
    status, out, _ = compare([PASS], [PASS, replace(FAIL, case=OTHER)])
    assert status == 1
    assert "1 failing new record" in out
    selection = {"backends": ["torch"], "selection": {**SELECTION, "level": "full"}}
    _, out, _ = compare([PASS], [PASS, new], options=selection)
    assert "did not try the same: level differ (1 record new" in out


def test_a_run_cut_short_is_worse(compare):
    status, out, _ = compare([PASS, replace(PASS, mode="gradient")], [PASS], cases=2)
    assert status == 1
    assert "1 planned record that did not run" in out


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ({"constants": {"C": 8.0}}, "their bounds differ (C = 16, stored = 2, rms = 3, bias = 1; C = 8)"),
        ({"opproof": "0.2.0"}, "they come from opproof 0.1.0 and 0.2.0"),
        ({"options": {"selection": {**SELECTION, "seed": 7}}}, "seed was 0 and is 7"),
        ({"schema": 2}, "schema version 2"),
    ],
)
def test_unlike_runs_are_not_compared(compare, header, said):
    status, out, err = compare([PASS], [FAIL], **header)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert said in err
    if "schema" not in header:
        status, out, _ = compare([PASS], [FAIL], "--anyway", **header)
        assert status == 1
        assert f"Beware: {said}" in out.splitlines()["opproof" in header]  # after what differs between the conditions


HERE = {
    "system": "Linux 6.1",
    "machine": "x86_64",
    "processor": "AMD EPYC",
    "vectors": "fma avx2 avx512f",
    "python": "3.11.7",
    "numpy": "2.4.0",
    "cpus": "2",
    "cores": "2",
    "OMP_NUM_THREADS": "1",
}
THERE = {
    **HERE,
    "system": "Linux 7.0",
    "processor": "Xeon",
    "vectors": "fma avx2 amx_bf16",
    "numpy": "2.4.6",
    "cpus": "64",
    "ATEN_CPU_CAPABILITY": "avx2",
}
DIFFER = (
    "The two were made under other conditions: processor AMD EPYC → Xeon; vectors + amx_bf16, - avx512f; "
    "numpy 2.4.0 → 2.4.6; ATEN_CPU_CAPABILITY not set → avx2; torch 2.13.0 cpu → 2.14.1 cpu."
)


def test_what_differs_between_the_conditions_is_told_first(tmp_path, capsys):
    newer = [{"spec": "torch", "name": "torch", "version": "2.14.1", "device": "cpu"}]
    write_run(tmp_path / "a", [PASS], host=HERE)
    write_run(tmp_path / "b", [FAIL], host=THERE, backends=newer)
    files = ("--markdown", tmp_path / "c.md", "--html", tmp_path / "c.html")
    status, out, _ = opproof(capsys, "compare", tmp_path / "a", tmp_path / "b", *files)
    assert status == 1
    assert out.splitlines()[0] == DIFFER
    assert out.count("other conditions") == 1
    notes = (tmp_path / "c.md").read_text(encoding="utf-8").splitlines()
    assert [row for row in notes if row][1].startswith("The two were made under other conditions: processor AMD EPYC")
    assert "made under other conditions" in (tmp_path / "c.html").read_text(encoding="utf-8")


def test_what_an_older_header_does_not_tell_is_no_difference(tmp_path, capsys):
    old = {"system": "Linux 5.0", "machine": "x86_64", "python": "3.11.7", "numpy": "2.4.0", "cpus": "8"}
    write_run(tmp_path / "a", [PASS], host=old)
    write_run(tmp_path / "b", [PASS], host=THERE)
    _, out, _ = opproof(capsys, "compare", tmp_path / "a", tmp_path / "b")
    assert out.splitlines()[0] == "The two were made under other conditions: numpy 2.4.0 → 2.4.6."
    write_run(tmp_path / "b", [PASS], host={**HERE, "system": "Darwin 25", "cpus": "1"})
    _, out, _ = opproof(capsys, "compare", tmp_path / "a", tmp_path / "b")
    assert out == "No regression in 1 record compared.\n"
    write_run(tmp_path / "a", [PASS], host={})
    assert opproof(capsys, "compare", tmp_path / "a", tmp_path / "b")[1] == out


def test_backends_of_one_name_are_told_by_what_was_given(tmp_path, capsys):
    def two(version):
        specs = ("ggml:old", "ggml:new")
        return [
            {"spec": s, "name": "ggml", "version": v, "device": ""} for s, v in zip(specs, ("1", version), strict=True)
        ]

    write_run(tmp_path / "a", [PASS], backends=two("2"))
    write_run(tmp_path / "b", [PASS], backends=two("3"))
    _, out, _ = opproof(capsys, "compare", tmp_path / "a", tmp_path / "b")
    assert out.splitlines()[0] == "The two were made under other conditions: ggml:new 2 → 3."


def test_backends_of_other_names_are_paired_where_there_is_one_each(compare):
    mine = replace(PASS, backend="./build/libmine.so")
    status, out, _ = compare([replace(PASS, backend="/ci/libmine.so")], [mine])
    assert status == 0
    assert "Backend ./build/libmine.so is compared with /ci/libmine.so of the baseline." in out
    both = [replace(PASS, backend=b) for b in ("a", "b")]
    assert compare(both, [mine])[0] == 3
    assert compare(both, [both[0], replace(FAIL, backend="b")])[0] == 1


def test_markdown_and_html(compare, tmp_path):
    nasty = replace(FAIL, message="``` </details> <b>", case=CASE)
    assert compare([PASS], [nasty], "--markdown", tmp_path / "c.md", "--html", tmp_path / "c.html")[0] == 1
    text = (tmp_path / "c.md").read_text(encoding="utf-8")
    assert text.startswith("### ❌ opproof compare: Regression: 1 newly failing, of 1 record compared.")
    assert "````text\n" in text
    page = (tmp_path / "c.html").read_text(encoding="utf-8")
    assert '"sentence":"Regression: 1 newly failing, of 1 record compared."' in page
    assert compare([PASS], [PASS], "--markdown", tmp_path / "c.md")[0] == 0
    assert (tmp_path / "c.md").read_text(encoding="utf-8").startswith("### ✅")


def test_a_missing_folder_is_one_sentence(tmp_path, capsys):
    write_run(tmp_path / "a", [PASS])
    status, _, err = opproof(capsys, "compare", tmp_path / "none", tmp_path / "a")
    assert (status, err.count("\n")) == (2, 1)
    assert "cannot read" in err


def test_two_runs_of_12_000_records_in_under_3_seconds():
    before, after = samples.run(40, broken=False), samples.run(40, fail=0.01)
    started = time.perf_counter()
    found = compare_runs((samples.header(12_000), before), (samples.header(12_000), after))
    assert time.perf_counter() - started < 3
    assert found.compared == 12_000
    assert found.regressions > 100
