"""The renderings of the records, as pure functions."""

import csv
import io
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import asdict, replace

import pytest
import report_samples as samples

from opproof.core.text import make_plain
from opproof.core.verdicts import FAILED, MEANING, Verdict
from opproof.reports import (
    Header,
    Result,
    Worst,
    github,
    html,
    junit,
    markdown,
    read_results,
    tables,
    terminal,
    write_line,
)
from opproof.reports._kinds import ResultKind, result_kind_of, share, sort_worst_first
from opproof.reports._summary import summarise_run, tally
from opproof.reports._text import format_line, number, options_of, short_names_of
from opproof.reports.causes import find_causes, format_heading
from opproof.reports.changes import compare_runs

HEADER = samples.header(20)
ODD = samples.oddities()
RUN = samples.run(2)


@pytest.fixture(scope="module")
def many():
    return samples.run(67)


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


# What is a failure, and what the sentence says


@pytest.mark.parametrize("verdict", Verdict)
def test_each_verdict_is_of_one_kind(verdict):
    expected = {
        "PASS": ResultKind.PASSED,
        "UNSUPPORTED": ResultKind.UNSUPPORTED,
        "HARNESS_ERROR": ResultKind.HARNESS_ERROR,
    }
    expected |= dict.fromkeys(("VACUOUS", "INCONCLUSIVE"), ResultKind.NO_EVIDENCE)
    record = samples.result("softmax[x=4x33;dim=-1;f32]", "forward", verdict=verdict)
    assert result_kind_of(record) is expected.get(verdict, ResultKind.FAILED)
    assert (result_kind_of(record) is ResultKind.FAILED) == (verdict in FAILED)
    assert result_kind_of(replace(record, known="a reason")) is {ResultKind.FAILED: ResultKind.KNOWN}.get(
        result_kind_of(record), result_kind_of(record)
    )


def test_a_verdict_without_a_kind_is_a_failure():
    record = samples.result("abs[x=3,;f32]", "forward")
    assert result_kind_of(replace(record, verdict="NEW_VERDICT")) is ResultKind.FAILED


def test_the_worst_come_first():
    one = samples.result("abs[x=3,;f32]", "forward", units=1.0)
    wrong = replace(one, verdict=Verdict.WRONG_VALUE, units=20.0)
    order = [
        replace(wrong, verdict=Verdict.CRASH, units=None),
        replace(wrong, units=3e3),
        wrong,
        replace(wrong, units="nan", known="a reason"),
        replace(one, verdict=Verdict.HARNESS_ERROR, units=None),
        replace(one, verdict=Verdict.VACUOUS, units=0.5),
        replace(one, verdict=Verdict.INCONCLUSIVE, units=None),
        replace(one, verdict=Verdict.UNSUPPORTED, units=None),
        replace(one, units=2.0),
        one,
        replace(one, units=None),
    ]
    assert sort_worst_first(order) == list(range(len(order)))
    assert sort_worst_first(order[::-1]) == list(range(len(order)))[::-1]


def test_nan_units_are_the_worst():
    records = [samples.result("abs[x=3,;f32]", "forward", units=u) for u in (3.0, "nan", 5.0)]
    assert tally(records).passing is records[1]
    assert tally(records).failing is None


def test_the_largest_error_is_the_largest_share_of_its_limit():
    one = samples.result("abs[x=3,;f32]", "forward", units=3.0, limit=16.0)
    near = replace(one, units=1.8, limit=2.0)
    assert (share(one), share(near)) == (3 / 16, 0.9)
    assert share(replace(one, limit=None)) == 3 / 16
    assert share(replace(one, limit=0.0)) == float("inf")
    assert share(replace(one, units=0.0, limit=0.0)) == 0
    assert tally([one, near, one]).passing is near
    assert sort_worst_first([one, near]) == [1, 0]
    said = "torch passes 2 of 2 records in 1 operator, its largest error 1.8 of 2 units allowed."
    assert summarise_run(samples.header(2), [one, near]) == said


def test_exact_answers_have_no_largest_error():
    one = samples.result("abs[x=3,;f32]", "forward", units=0.0, limit=0.0)
    assert summarise_run(samples.header(1), [one]) == "torch passes 1 of 1 record in 1 operator, bit for bit."


def test_a_failure_says_how_many_units_are_allowed():
    at = Worst(tensor="y", index=(2,), got=1.5, expected=1.0, bound=0.1)
    one = samples.result("abs[x=3,;f32]", "forward", verdict="WRONG_VALUE", units=2.7, limit=2.0, worst=at)
    assert "y[2]: got 1.5, expected 1, bound 0.1, 2.7 units of 2 allowed" in terminal.format_failure(one)
    assert "2.0003 units of 2 allowed" in terminal.format_failure(replace(one, units=2.0003))
    assert "2.7 units of 2 allowed" in github.format_annotations(HEADER, [one])
    assert "| 0.1 | 2.7 | 2 |" in markdown.render(HEADER, [one])
    assert "2.7 units of 2 allowed" in junit.render(HEADER, [one])


def test_a_failure_of_the_whole_array_shows_its_figures():
    one = samples.result("abs[x=3,;f32]", "forward", verdict="WRONG_VALUE", units=1.2, limit=2.0, rms=1.02, bias=-1.6)
    for text in (terminal.format_failure(one), markdown.render(HEADER, [one]), junit.render(HEADER, [one])):
        assert "RMS 1.02, bias -1.6 units" in text
    assert "RMS 1.02" not in terminal.format_failure(replace(one, units=2.1))


def test_figures_of_arrays_have_columns_where_there_is_room():
    one = samples.result("abs[x=3,;f32]", "forward", units=1.2, limit=2.0, rms=0.42, bias=0.1)
    other = replace(one, rms=0.3, bias=-0.2)
    head, _, row = terminal.format_summary(HEADER, [one, other]).splitlines()[:3]
    assert head.split()[-3:] == ["units", "RMS", "bias"]
    assert row.split()[-3:] == ["1.2", "0.42", "-0.2"]
    long = [replace(r, op="a" * 62) for r in (one, other)]
    assert terminal.format_summary(HEADER, long).splitlines()[0].split()[-2:] == ["units", "RMS"]
    assert terminal.format_summary(HEADER, [replace(one, op="a" * 80)]).splitlines()[0].split()[-1] == "units"
    assert "| units | RMS | bias |" in markdown.render(HEADER, [one])


def test_junit_has_the_figures_as_properties():
    one = samples.result("abs[x=3,;f32]", "forward", units=1.2, limit=2.0, rms=0.42, bias=-0.1)
    case = ET.fromstring(junit.render(HEADER, [one])).find(".//testcase")
    found = {p.attrib["name"]: p.attrib["value"] for p in case.iter("property")}
    counts = {"records": "1", "pass": "1"}
    assert found == {**counts, "units": "1.2", "limit": "2", "rms": "0.42", "bias": "-0.1"}
    assert case[0].tag == "properties"  # before its outcome, as the schema wants


def test_sentence_of_nothing_is_no_success():
    assert "nothing is known" in summarise_run(HEADER, [])
    assert "passes none" in summarise_run(HEADER, [samples.result("abs[x=3,;f32]", "forward", verdict="UNSUPPORTED")])


def test_sentence_of_an_interrupted_run_says_so():
    one = [samples.result("abs[x=3,;f32]", "forward", units=1.25)]
    said = "torch passes 1 of 1 record in 1 operator, its largest error 1.2 of 16 units allowed"
    assert summarise_run(samples.header(1), one) == f"{said}."
    assert summarise_run(samples.header(3), one).endswith("; 2 planned records did not run.")


def test_sentence_names_each_backend():
    said = summarise_run(samples.header(), samples.run(1, ("mylib", "torch")))
    assert said.startswith("mylib fails")
    assert "; torch passes" in said


def test_names_of_backends():
    assert short_names_of(["torch", "/a/libx.so"]) == {"torch": "torch", "/a/libx.so": "libx.so"}
    assert short_names_of(["/a/x.so", "/b/x.so"]) == {"/a/x.so": "/a/x.so", "/b/x.so": "/b/x.so"}


def test_numbers_and_lines():
    texts = {2.9e6: "2.9e6", 1.02e-7: "1e-7", 0.5: "0.5", "nan": "nan", "-inf": "-inf", None: "–"}
    assert {value: number(value, 2) for value in texts} == texts
    assert format_line("a\x1b[31m\r\n b\x00") == "a\\x1b[31m b\\x00"
    assert format_line("x" * 5000) == make_plain("x" * 5000)


def test_options_are_flat():
    given = {"backends": ["t"], "selection": {"ops": ["a", "b"], "seed": 0}, "known": "", "jobs": 2}
    assert options_of(Header(opproof="1", options=given)) == {"ops": "a, b", "seed": "0", "jobs": "2"}
    before_it_is_written = {**given, "selection": {"ops": ("a", "b"), "cases": (), "seed": 0}}
    assert options_of(Header(opproof="1", options=before_it_is_written)) == options_of(
        Header(opproof="1", options=given)
    )


# Terminal


def test_terminal_lists_each_cause_with_the_repro_of_its_smallest_case():
    text = terminal.format_summary(HEADER, ODD, limit=None)
    found = find_causes(r for r in ODD if result_kind_of(r) is ResultKind.FAILED)
    assert sum(len(c.records) for c in found) == 16
    for cause in found:
        assert cause.smallest.repro in text
    assert "out<b>[]: got inf, expected -inf, bound 1e-7, inf units" in text
    assert text.splitlines()[-1] == summarise_run(HEADER, ODD)


def test_terminal_caps_failures_and_says_where_the_others_are():
    text = terminal.format_summary(HEADER, ODD, folder="out", limit=3)
    assert text.count("opproof run -b") == 3 + 1  # and one harness error
    found = find_causes(r for r in ODD if result_kind_of(r) is ResultKind.FAILED)
    left = sum(len(c.records) for c in found[3:])
    assert f"… and {len(found) - 3} more causes of {left} failures: opproof report out --all" in text


def test_terminal_table_has_a_row_per_operator_and_backend():
    text = terminal.format_summary(samples.header(), samples.run(1, ("mylib", "torch")), limit=None)
    rows = [row.split() for row in text.split("\n\n", 1)[0].splitlines()[2:]]
    assert [r[:3] for r in rows[:2]] == [["abs", "mylib", "6"], ["abs", "torch", "6"]]
    assert len(rows) == 100


def test_terminal_counts_the_operators_of_which_there_is_no_more_to_say():
    declined = [replace(r, verdict=Verdict.UNSUPPORTED, units=None, message=f"no {r.op} here") for r in RUN]
    passed = [r for r in RUN if r.verdict == Verdict.PASS and r.op not in ("pad", "rope", "mul")]
    few = [r for r in declined if r.op in ("pad", "rope", "mul")]
    text = terminal.format_summary(HEADER, [*passed, *few])
    ops = {r.op for r in passed}
    assert text.startswith(f"{len(ops)} operators pass, {len(passed)} records: opproof report results.jsonl --all")
    assert "3 operators declined whole: no … here (mul, pad, rope)" in text
    five = [r for r in declined if r.op in ("abs", "add", "cat", "cos", "div")]
    assert "(abs, add, cat and 2 more)" in terminal.format_summary(HEADER, five)
    whole = terminal.format_summary(HEADER, [*passed, *few], limit=None)
    assert len(whole.split("\n\n")[0].splitlines()) == 2 + len(ops) + 3


def test_an_error_has_the_digits_that_tell_it_from_its_limit():
    one = samples.result("abs[x=3,;f32]", "forward", units=15.7, limit=16.0)
    assert summarise_run(samples.header(1), [one]).endswith("its largest error 15.7 of 16 units allowed.")
    assert terminal.format_summary(HEADER, [one]).splitlines()[2].split()[-1] == "15.7"
    near = summarise_run(samples.header(1), [replace(one, units=15.9996)])
    assert near.endswith("its largest error 15.9996 of 16 units allowed.")
    assert "its largest error 16 of 16" in summarise_run(samples.header(1), [replace(one, units=16.0)])


def test_a_known_failure_is_one_short_line():
    known = replace(ODD[1], verdict=Verdict.WRONG_VALUE, known="long words " * 50)
    rows = terminal.format_summary(HEADER, [known]).splitlines()
    assert max(map(len, rows)) <= 100
    assert any(row.endswith("…") for row in rows)


def test_the_slowest_stands_beside_what_its_reference_took():
    one = samples.result("abs[x=3,;f32]", "forward", seconds=2.5)
    slowest = "slowest: abs[x=3,;f32] forward, 2.5 s"
    assert f"{slowest}\n" in terminal.format_summary(HEADER, [replace(one, seconds=1.0), one])
    assert f"{slowest}, the reference and judging 0.25 s\n" in terminal.format_summary(
        HEADER, [replace(one, judging=0.25)]
    )


def test_terminal_of_nothing():
    assert terminal.format_summary(HEADER, []) == summarise_run(HEADER, [])


# Markdown


def test_markdown_has_failures_folded_and_escaped():
    text = markdown.render(HEADER, ODD)
    assert text.startswith("### ❌ opproof: torch fails 16 of 21 records")
    assert "opproof itself failed on 1 record: opproof's own fault" in text
    assert "<details><summary><b>softmax forward, WRONG_VALUE: 1 record, f32</b></summary>" in text
    assert "<script>" not in text.replace("`gelu[x=4x4;approximate=</script>%/?#;bf16]`", "")
    assert "@someone" not in text
    for row in re.findall(r"^\| `.*", text, re.MULTILINE):
        assert len(re.findall(r"(?<!\\)\|", row)) == 10


@pytest.mark.parametrize("part", [0.0, 1.0])
def test_markdown_fits_a_comment_and_counts_what_it_left_out(part):
    records = samples.run(67, fail=part)
    text = markdown.render(samples.header(len(records)), records)
    assert len(text.encode()) < 60_000
    shown = sum(int(n.replace(",", "")) for n in re.findall(r"<summary><b>[^<]*: ([\d,]+) records?,", text))
    left = re.search(r"([\d,]+) failures left out here", text)
    assert shown + (int(left[1].replace(",", "")) if left else 0) == tally(records).kinds["failed"]


def test_markdown_fits_however_long_the_texts_are():
    long = {"message": "é|" * 5000, "diagnosis": "x" * 9000}
    records = [replace(r, op=f"{r.op}{'y' * 500}{n}", **long) for n, r in enumerate(RUN)]
    assert len(markdown.render(HEADER, records).encode()) < 60_000


def test_markdown_of_success_and_of_nothing():
    assert markdown.render(HEADER, [samples.result("abs[x=3,;f32]", "forward")]).startswith("### ✅")
    assert markdown.render(HEADER, []).startswith("### ❌")


# JUnit, GitHub, tables


def test_junit_counts_and_reads_back():
    root = ET.fromstring(junit.render(HEADER, ODD))
    tests = sorted({(r.op, r.mode) for r in ODD})
    cases = root.findall("./testsuite/testcase")
    assert [c.attrib["name"] for c in cases] == [f"{op} {mode}" for op, mode in tests]
    assert root.attrib["tests"] == str(len(tests))
    assert len(root.findall(".//failure")) == int(root.attrib["failures"]) == 2
    assert len(root.findall(".//error")) == int(root.attrib["errors"]) == 1  # a test of no answer but an error
    assert len(root.findall(".//skipped")) == sum(int(suite.attrib["skipped"]) for suite in root) == 0
    text = "\n".join(e.text for e in root.findall(".//failure"))
    for cause in find_causes(r for r in ODD if result_kind_of(r) is ResultKind.FAILED and r.op != "gelu"):
        assert format_heading(cause) in text
        assert cause.smallest.repro in text


def test_junit_skips_what_neither_passes_nor_fails():
    records = [replace(ODD[1], verdict=Verdict.UNSUPPORTED, message="no softmax"), replace(ODD[1], known="a table")]
    (skipped,) = ET.fromstring(junit.render(HEADER, records)).findall(".//skipped")
    assert skipped.attrib["message"] == "1 known: a table; 1 unsupported: no softmax"
    assert ET.fromstring(junit.render(HEADER, [*records, ODD[0]])).find(".//skipped") is None


def test_junit_of_nothing_is_an_error():
    root = ET.fromstring(junit.render(HEADER, []))
    assert root.find(".//error").attrib["type"] == "NOTHING_RAN"


def test_github_annotations_are_one_line_each_and_escaped():
    rows = github.format_annotations(HEADER, ODD).splitlines()
    assert len(rows) == 10
    assert all(re.match(r"::error title=[^:,]*::", row) for row in rows)
    assert re.search(r"::\d+ more causes of \d+ failures; see the report.$", rows[-2])
    assert rows[-1].startswith("::error title=HARNESS_ERROR::opproof itself failed on 1 record: ")
    assert "%250A::error::" in "".join(rows)


def test_github_annotations_of_success_and_of_nothing():
    assert github.format_annotations(HEADER, [samples.result("abs[x=3,;f32]", "forward")]).startswith("::notice")
    assert github.format_annotations(HEADER, []).startswith("::error")
    assert github.format_job_summary(HEADER, RUN).startswith("### ❌")


def test_csv_keeps_every_digit():
    file = io.StringIO(newline="")
    tables.write_csv(ODD + RUN, file)
    rows = list(csv.DictReader(io.StringIO(file.getvalue(), newline="")))
    assert len(rows) == len(ODD + RUN)
    for row, record in zip(rows, ODD + RUN, strict=True):
        assert row["case"] == record.case
        assert row["message"] == make_plain(record.message)
        for name in ("units", "limit", "rms", "bias", "rounding", "nonfinite"):
            value = getattr(record, name)
            assert row[name] == ("" if value is None else str(value))
        assert row["got"] == ("" if record.worst is None else str(record.worst.got))


# HTML


def test_html_carries_every_record_unchanged():
    data = data_of(html.render(HEADER, ODD))
    columns = data["columns"]
    for i, record in enumerate(ODD):
        assert data["cases"][columns["case"][i]] == record.case
        assert data["verdicts"][columns["verdict"][i]] == record.verdict
        assert data["strings"][columns["repro"][i]].replace("\x01", record.case) == record.repro
        assert columns["units"][i] == record.units
        if record.worst is None:
            assert columns["worst"][i] == 0
        else:
            worst = record.worst
            assert columns["worst"][i][2:] == [worst.got, worst.expected, worst.bound]


def test_html_needs_nothing_else_and_escapes_everything():
    page = html.render(HEADER, ODD, docs={"softmax": "</script><b>"}, scripts={ODD[0].case: "</script>"})
    assert page.count("</script>") == 2  # the data's and the script's
    assert "<img" not in page
    assert not re.search(r"""(src|href)=["']?(https?:)?//|@import|url\(""", page)


def test_html_of_numbers_that_json_has_not():
    record = samples.result("abs[x=3,;f32]", "forward", units=float("inf"), verdict="WRONG_VALUE")
    assert data_of(html.render(HEADER, [record]))["columns"]["units"] == ["inf"]


def test_html_compares_with_a_baseline():
    before = [replace(ODD[0], verdict=Verdict.CRASH, units=3.0), samples.result("abs[x=3,;f32]", "forward")]
    since = compare_runs((HEADER, before), (samples.header(2), ODD[:2]))
    page = data_of(html.render(HEADER, ODD[:2], changes=since))["changes"]
    assert page["verdict"] == [list(MEANING).index("CRASH"), -1]
    assert page["units"] == [3.0, None]
    assert [page["names"][k] for k in page["change"]] == ["mended", "new_failing"]
    assert page["sentence"] == "Regression: 1 failing new record, of 1 record compared; 1 no longer failing."
    assert page["notes"][-1] == "1 record of the baseline did not run now"


def test_html_of_nothing():
    assert "No case ran" in html.render(HEADER, [])


def test_html_of_20000_records_is_small(many):
    assert len(many) > 20_000
    assert len(html.render(samples.header(len(many)), many).encode()) < 6e6


def test_html_of_20000_distinct_stack_traces_is_small(many):
    records = [replace(r, verdict="ERROR", message=f"{n} " * 90, diagnosis=f"{n} " * 30) for n, r in enumerate(many)]
    page = html.render(samples.header(len(many)), records)
    assert len(page.encode()) < 6e6
    assert "left out of this page" in page


def test_html_of_20000_failures_with_pictures_is_small():
    records = samples.run(67, fail=0.95)
    page = html.render(samples.header(len(records)), records)
    assert len(page.encode()) < 6e6
    shown = {int(i) for i, seen in data_of(page)["evidence"].items() if seen != 0}
    assert len(shown) < sum(r.evidence is not None for r in records)
    # every sort of failure has its turn
    assert {(records[i].op, records[i].mode) for i in shown} == {(r.op, r.mode) for r in records if r.evidence}


def test_html_has_the_support_matrix():
    records = [
        samples.result("relu[x=3,;f32]", "forward", "a"),
        samples.result("relu[x=3,;f16]", "forward", "a", "CRASH"),
        samples.result("relu[x=3,;f32]", "gradient", "a", "UNSUPPORTED"),
        samples.result("abs[x=3,;f32]", "forward", "b"),
    ]
    support = data_of(html.render(HEADER, records))["support"]
    nothing = ["", "", ""]
    assert support["rows"] == {"abs": [nothing, ["pass", "", "f32"]], "relu": [["FAIL", "–", "f32"], nothing]}
    assert support["sentences"][0].startswith("a answers 1 of 2 operators, 0 with gradients (1 with failures)")


# The contract


def test_what_a_failure_looked_like_is_in_the_file_only_where_there_is_some(tmp_path):
    failed = next(r for r in RUN if r.evidence is not None)
    passed = samples.result("relu[x=3,;f32]", "forward", units=1.0)
    with (tmp_path / "results.jsonl").open("wb") as file:
        for record in (HEADER, failed, passed):
            write_line(file, record)
    lines = (tmp_path / "results.jsonl").read_text(encoding="utf-8").splitlines()
    assert ["evidence" in json.loads(line) for line in lines] == [False, True, False]
    assert lines[2] == json.dumps({**asdict(passed), "evidence": 0}, separators=(",", ":")).replace(',"evidence":0', "")
    assert read_results(tmp_path)[1] == [failed, passed]


def test_reports_come_from_the_file_alone(tmp_path):
    with (tmp_path / "results.jsonl").open("wb") as file:
        for record in (HEADER, *ODD, *RUN):
            write_line(file, record)
    header, records = read_results(tmp_path)
    for render in (terminal.format_summary, markdown.render, junit.render, github.format_annotations, html.render):
        assert render(header, records) == render(HEADER, ODD + RUN)


def test_reports_are_imported_fast_and_alone():
    code = (
        "import sys, opproof.reports.terminal, opproof.reports.markdown, opproof.reports.html\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('jinja2', 'tabulate', 'numpy', 'torch')\n"
        "       or m.startswith(('opproof.harness', 'opproof.cases', 'opproof.backends', 'opproof.reference_ops'))])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_every_record_field_is_in_the_html():
    # A field added to the record must be shown, or left out on purpose.
    fields = set(Result.__dataclass_fields__)
    page = data_of(html.render(HEADER, RUN))
    told_elsewhere = {
        "evidence",
        "in_process",
        "impl",
        "left_out",
        "zeros",
        "also",
        "delta",
        "patterns",
    }  # the top, the diagnosis and causes do
    for_ledgers = {"finite_units", "share", "causes"}  # parts of what units and elements say; what was executed
    assert fields == set(page["columns"]) - {"kind", "rank"} | told_elsewhere | for_ledgers
    assert {int(i) for i in page["evidence"]} == {i for i, r in enumerate(RUN) if r.evidence is not None}
