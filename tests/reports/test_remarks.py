"""What a run says of itself as a whole is kept beside its results: whoever renders or joins them is told, and fails."""

import json
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
import report_samples as samples
from _runs import CASE, SELECTION, opproof, write_run

from opproof.harness.known_failures.findings import Extent
from opproof.harness.run.finish import finish
from opproof.reports import read_results
from opproof.reports.remarks import FILE, Remarks, read_remarks, write_remarks

PASS = samples.result(CASE, "forward", units=0.8)
BEWARE, NOTE = "The results were changed by something else.", "Two threads <b>disturb</b> each other."


@pytest.fixture
def ended(tmp_path, capsys):
    """The folder of a run of one record that passes, which ended with a complaint and a note."""
    folder = write_run(tmp_path / "out", [PASS])
    assert ends(folder, complaints=[BEWARE], notes=[NOTE]) == 1
    capsys.readouterr()
    return folder


def ends(folder, **said):
    header, results = read_results(folder)
    return finish(folder, header, results, [], quiet=True, extent=Extent.PART, **said)


def test_rendered_again_they_are_told_and_fail(ended, tmp_path, capsys):
    files = {kind: tmp_path / f"r.{kind}" for kind in ("html", "markdown", "junit")}
    options = [text for kind, file in files.items() for text in (f"--{kind}", file)]
    status, out, _ = opproof(capsys, "report", ended, *options)
    assert status == 1
    assert out.endswith(f"{BEWARE}\n{NOTE}\n")
    page, text = (files[kind].read_text(encoding="utf-8") for kind in ("html", "markdown"))
    assert page == (ended / "report.html").read_text(encoding="utf-8")
    assert text == (ended / "report.md").read_text(encoding="utf-8")
    failure = ET.parse(files["junit"]).find("testsuite[@name='opproof']/testcase[@name='run']/failure")
    assert (failure.get("type"), failure.get("message")) == ("COMPLAINT", BEWARE)


def test_the_results_file_alone_will_do(ended, capsys):
    assert opproof(capsys, "report", ended / "results.jsonl")[0] == 1


def test_github_has_an_error_and_no_notice_of_success(ended, tmp_path, capsys, monkeypatch):
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    status, out, _ = opproof(capsys, "report", ended, "--github")
    assert status == 1
    assert [row.partition(" ")[0] for row in out.splitlines()] == ["::error", "::error"]
    assert out.endswith(f"::{BEWARE}\n")
    assert BEWARE in summary.read_text(encoding="utf-8")


def test_a_run_that_says_nothing_leaves_nothing(ended, capsys):
    """Nor does what a backend puts there meanwhile stay."""
    assert ends(ended) == 0
    assert not (ended / FILE).exists()
    assert opproof(capsys, "report", ended)[0] == 0


def test_joined_each_is_told_once_and_still_fails(tmp_path, capsys):
    parts = []
    for number, mode in enumerate(("forward", "gradient"), start=1):
        options = {"backends": ["torch"], "selection": {**SELECTION, "cases": [CASE], "shard": f"{number}/2"}}
        parts.append(write_run(tmp_path / mode, [replace(PASS, mode=mode)], options=options))
        ends(parts[-1], complaints=[BEWARE][: number - 1], notes=[NOTE])
    capsys.readouterr()
    status, out, err = opproof(capsys, "merge", *parts, "--out", tmp_path / "whole", "--quiet")
    assert (status, err) == (1, "")
    assert (out.count(BEWARE), out.count(NOTE)) == (1, 1)
    assert read_remarks(tmp_path / "whole") == Remarks(complaints=(BEWARE,), notes=(NOTE,))


@pytest.mark.parametrize("text", ["", "[]", '{"complaints": 1}', '{"other": []}', '{"notes": ["a"', "\x80"])
def test_what_is_none_is_one_sentence(ended, capsys, text):
    (ended / FILE).write_bytes(text.encode("latin-1"))
    status, out, err = opproof(capsys, "report", ended)
    assert (status, out) == (2, "")
    assert err.startswith(f"opproof: cannot read {ended / FILE}: ")
    assert err.count("\n") == 1


def test_a_path_that_no_text_can_hold(tmp_path, capsys):
    folder = write_run(tmp_path / "out", [PASS])
    write_remarks(folder, Remarks(notes=("it lies in \udc80",)), instead="no.")
    assert json.loads((folder / FILE).read_bytes()) == {"notes": ["it lies in \\udc80"]}
    assert opproof(capsys, "report", folder)[0] == 0
