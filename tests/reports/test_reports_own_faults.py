"""What opproof itself failed on is never the backend's failure, and a judge within reach is told of: everywhere."""

import csv
import io
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
import report_samples as samples
from _runs import CASE, opproof, write_run

from opproof.core.verdicts import Verdict
from opproof.reports import github, html, junit, markdown, read_results, support, tables, terminal
from opproof.reports._summary import describe_own_faults, describe_provisos, summarise_run
from opproof.reports.baseline import read_baseline, update_records
from opproof.reports.changes import compare_runs
from opproof.reports.changes import text as changes_text

PASS = samples.result(CASE, "forward", units=0.8)
FAIL = replace(PASS, mode="gradient", verdict=Verdict.WRONG_GRADIENT, units=5e3)
FAULT = replace(PASS, case=f"{CASE[:-1]};seed=1]", verdict=Verdict.HARNESS_ERROR, units=None)
FAULT = replace(FAULT, message="the reference of softmax raised KeyError: 'dim' (reference_ops/softmax.py, forward)")
HEADER = samples.header(2)
TOLD = f"opproof itself failed on 1 record: {FAULT.message}"


def test_the_sentence_says_so():
    passes = "torch passes 1 of 1 record in 1 operator, its largest error 0.8 of 16 units allowed"
    assert summarise_run(HEADER, [PASS, FAULT]) == f"{passes}; {TOLD}."
    assert (
        summarise_run(HEADER, [FAIL, FAULT]) == f"torch fails 1 of 1 record: 1 cause in 1 operator (softmax); {TOLD}."
    )
    assert summarise_run(samples.header(1), [FAULT]) == f"nothing is known about torch; {TOLD}."
    assert summarise_run(samples.header(9), [PASS, FAULT]) == f"{passes}; 7 planned records did not run; {TOLD}."


def test_the_reasons_are_named_the_most_frequent_first_and_not_at_any_length():
    others = [replace(FAULT, message=text) for text in ("no memory", "no memory", "x" * 900, "y")]
    text = describe_own_faults([FAULT, FAULT, FAULT, *others])
    assert text == f"opproof itself failed on 7 records: {FAULT.message}; no memory; …"
    assert describe_own_faults(others[2:3]).endswith("x…")
    assert len(describe_own_faults(others[2:3])) < 250
    assert describe_own_faults([replace(FAULT, message="")]).startswith(
        "opproof itself failed on 1 record: opproof's own fault"
    )
    assert describe_own_faults([PASS, FAIL]) == ""


def test_a_ledger_does_not_make_it_known():
    assert TOLD in summarise_run(HEADER, [PASS, replace(FAULT, known="a reason")])


RENDERINGS = {
    "terminal": terminal.format_summary,
    "markdown": lambda *run: markdown.render(*run).replace("\\_", "_"),
    "html": lambda *run: html.render(*run).replace("&#39;", "'"),
    "github": github.format_annotations,
}


@pytest.mark.parametrize("name", RENDERINGS)
@pytest.mark.parametrize("others", [[PASS], [FAIL], []], ids=["pass", "fail", "alone"])
def test_every_report_says_so(name, others):
    text = RENDERINGS[name](HEADER, [*others, FAULT])
    assert TOLD in text
    assert "torch fails 2" not in text
    if FAIL not in others:
        assert "torch fails" not in text


def test_no_report_is_green():
    assert markdown.render(HEADER, [PASS, FAULT]).startswith("### ❗")
    assert '<h1 class="verdict harness_error">' in html.render(HEADER, [PASS, FAULT])
    assert github.format_annotations(HEADER, [PASS, FAULT]).startswith("::error")
    since = compare_runs((HEADER, [PASS]), (HEADER, [PASS, FAULT]))
    assert changes_text.format_markdown(since).startswith(
        "### ❌ opproof compare: No regression in 1 record compared; opproof"
    )


def test_junit_calls_it_an_error_of_its_own_type():
    root = ET.fromstring(junit.render(HEADER, [PASS, FAULT]))
    (error,) = root.findall(".//error")
    assert (error.attrib["type"], error.attrib["message"]) == ("HARNESS_ERROR", TOLD)
    assert "opproof's own fault" in error.text
    assert (root.attrib["errors"], root.attrib["failures"]) == ("1", "0")


def test_annotations_stay_within_what_github_shows():
    many = [replace(FAIL, case=f"{CASE}{n}", op=f"op{n}") for n in range(30)]
    rows = github.format_annotations(HEADER, [*many, FAULT]).splitlines()
    assert len(rows) == 10
    assert rows[-1].startswith("::error title=HARNESS_ERROR::opproof itself failed on 1 record: ")
    assert "22 more causes of 22 failures" in rows[-2]


def test_tables_and_the_support_matrix():
    file = io.StringIO(newline="")
    tables.write_csv([PASS, FAULT], file)
    rows = csv.DictReader(io.StringIO(file.getvalue(), newline=""))
    assert [r["kind"] for r in rows] == ["passed", "harness_error"]
    cells = support.make_matrix([PASS, FAULT])
    assert cells["softmax"]["torch"] == support.Cell("harness error", "", ())
    assert support.summarise_backends(cells)[0].endswith("(1 where opproof itself failed).")
    assert support.make_matrix([FAIL, replace(FAULT, mode="gradient")])["softmax"]["torch"].gradient == "FAIL"


def test_a_baseline_keeps_what_is_known_of_the_backend(tmp_path, capsys):
    write_run(tmp_path / "run", [PASS, FAULT])
    status, out, _ = opproof(capsys, "baseline", "save", tmp_path / "run", tmp_path / "base")
    assert (status, out) == (0, f"{tmp_path / 'base'}: 2 records; {TOLD}\n")
    assert {r.verdict for r in read_baseline(tmp_path / "base")[1]} == {"PASS", "HARNESS_ERROR"}
    lost = replace(PASS, verdict=Verdict.HARNESS_ERROR, units=None)
    assert update_records([PASS], [lost], prune=True) == [PASS]
    assert update_records([FAULT], [replace(FAULT, verdict=Verdict.PASS)], prune=True)[0].verdict == "PASS"
    assert update_records([], [FAULT], prune=True) == [FAULT]


REACHED = "The backend ran in opproof's own process, within reach of what judges it."


@pytest.mark.parametrize("name", [*RENDERINGS, "junit"])
def test_a_judge_within_reach_is_told_of_once(name):
    render = {**RENDERINGS, "junit": lambda *run: junit.render(*run).replace("&#39;", "'")}[name]
    records = [replace(r, in_process=True) for r in (PASS, FAIL)]
    assert render(HEADER, records).count(REACHED) == 1
    assert "own process" not in render(HEADER, [PASS, FAIL])
    some = render(HEADER, [PASS, records[1]])
    assert some.count("In 1 of 2 records the backend ran in opproof's own process") == 1
    assert describe_provisos([]) == ""


def test_so_do_tables_comparison_and_baseline(tmp_path, capsys):
    records = [replace(r, in_process=True) for r in (PASS, FAIL)]
    write_run(tmp_path / "run", records)
    assert read_results(tmp_path / "run")[1] == records
    assert REACHED in opproof(capsys, "baseline", "save", tmp_path / "run", tmp_path / "base")[1]
    assert all(r.in_process for r in read_baseline(tmp_path / "base")[1])
    assert opproof(capsys, "compare", tmp_path / "base", tmp_path / "run")[1].count(REACHED) == 1
    page = tmp_path / "c.html"
    opproof(capsys, "compare", tmp_path / "base", tmp_path / "run", "--html", page, "--markdown", tmp_path / "c.md")
    assert page.read_text(encoding="utf-8").replace("&#39;", "'").count(REACHED) == 1
    assert (tmp_path / "c.md").read_text(encoding="utf-8").count(REACHED) == 1
    file = io.StringIO(newline="")
    tables.write_csv([PASS, records[0]], file)
    assert [r["in_process"] for r in csv.DictReader(io.StringIO(file.getvalue(), newline=""))] == ["False", "True"]
