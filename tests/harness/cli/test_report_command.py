"""opproof report: every rendering of a run, from its folder alone."""

import csv
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
import report_samples as samples
from _runs import CASE, opproof, write_run

from opproof.reports import tables

RUN = samples.run(1)
PASS = samples.result(CASE, "forward", units=0.8)
FAIL = replace(PASS, mode="gradient", verdict="WRONG_GRADIENT", message="::set-env name=A::b")


def test_files(tmp_path, capsys):
    write_run(tmp_path, RUN)
    files = {kind: tmp_path / "made" / f"r.{kind}" for kind in ("html", "markdown", "junit", "csv")}
    options = [text for kind, file in files.items() for text in (f"--{kind}", file)]
    status, out, err = opproof(capsys, "report", tmp_path, *options)
    assert (status, err) == (1, "")
    assert f"{len(RUN)} records: " in out
    tests = {(r.backend, r.op, r.mode) for r in RUN}
    assert ET.parse(files["junit"]).getroot().get("tests") == str(len(tests))
    with files["csv"].open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == len(RUN)
    assert files["html"].read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "opproof" in files["markdown"].read_text(encoding="utf-8")


def test_github(tmp_path, capsys, monkeypatch):
    write_run(tmp_path, [PASS, FAIL])
    summary = tmp_path / "summary.md"
    summary.write_text("before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    status, out, _ = opproof(capsys, "report", tmp_path, "--github")
    assert status == 1
    # Nothing on stdout but annotations: a backend's own text must not begin a line, which GitHub would obey.
    assert [line.partition(" ")[0] for line in out.splitlines()] == ["::error"]
    assert summary.read_text(encoding="utf-8").startswith("before\n### ❌ opproof")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY")
    assert opproof(capsys, "report", tmp_path, "--github")[1] == out


def test_html_against_a_baseline(tmp_path, capsys):
    write_run(tmp_path / "old", [PASS])
    write_run(tmp_path / "new", [PASS, FAIL])
    opproof(capsys, "baseline", "save", tmp_path / "old", tmp_path / "base")
    for baseline in ("old", "base"):
        page = tmp_path / f"{baseline}.html"
        assert opproof(capsys, "report", tmp_path / "new", "--html", page, "--baseline", tmp_path / baseline)[0] == 1
        assert '"sentence":"Regression: 1 failing new record, ' in page.read_text(encoding="utf-8")


def test_what_did_not_run_is_no_success(tmp_path, capsys):
    write_run(tmp_path, [PASS], cases=2)
    status, out, _ = opproof(capsys, "report", tmp_path)
    assert status == 1
    assert "1 planned record did not run" in out


@pytest.mark.parametrize("kind", ["html", "markdown", "junit", "csv"])
def test_a_report_that_fails_leaves_the_old_one(tmp_path, capsys, monkeypatch, kind):
    """A disk that fills while the file is written: one sentence, and the file as it was."""
    write_run(tmp_path, RUN)
    file = tmp_path / "made" / "report"
    assert opproof(capsys, "report", tmp_path, f"--{kind}", file)[0] == 1
    before = file.read_bytes()

    def write(*arguments, **_):
        for argument in arguments:
            if isinstance(argument, Path):
                argument.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    module, name = {"csv": (tables, "write_csv")}.get(kind, (Path, "write_text"))
    monkeypatch.setattr(module, name, write)
    status, _, err = opproof(capsys, "report", tmp_path, f"--{kind}", file)
    assert (status, err) == (2, f"opproof: cannot write {file}: No space left on device; give another file.\n")
    assert file.read_bytes() == before
    assert [p.name for p in file.parent.iterdir()] == ["report"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--baseline", "base"), "--baseline is for the HTML report"),
        (("--html", "r.html", "--baseline", "base"), "cannot read base"),
        (("--junit", "results.jsonl/r.xml"), "cannot write results.jsonl/r.xml"),
        (("--csv", "results.jsonl/r.csv"), "cannot write results.jsonl/r.csv"),
    ],
)
def test_bad_calls(tmp_path, capsys, monkeypatch, options, said):
    write_run(tmp_path, [PASS])
    monkeypatch.chdir(tmp_path)
    status, out, err = opproof(capsys, "report", ".", *options)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert said in err
