"""What is seen of a run while it runs: failures as they come, a line every ten seconds, a table on a terminal."""

import os
import pty
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import report_samples as samples
from _runs import opproof

from opproof.reports import progress as shown
from opproof.reports._kinds import ResultKind

PASS = samples.result("relu[x=3,;f32]", "forward", units=0.5)
WRONG = replace(PASS, verdict="WRONG_VALUE", diagnosis="off by one\nalong axis 0")


def test_failures_are_told_once_a_kind_and_counted_always():
    counts = shown.ProgressCounts(4)
    assert not counts.add(PASS, None)
    assert counts.add(WRONG, None)
    assert not counts.add(replace(WRONG, case="relu[x=4,;f32]"), None)
    assert counts.kinds[ResultKind.FAILED] == 2
    assert counts.describe_so_far().startswith("3 of 4 records, 2 fail")
    assert not counts.add(PASS, WRONG)  # in the place of the one before
    assert counts.kinds[ResultKind.FAILED] == 1
    assert shown.describe_failure(WRONG) == "WRONG_VALUE relu[x=3,;f32] forward: off by one along axis 0"


def test_no_more_than_a_few_failures_are_told():
    counts = shown.ProgressCounts(99)
    assert sum(counts.add(replace(WRONG, op=f"op{n}"), None) for n in range(50)) == 12
    assert counts.kinds[ResultKind.FAILED] == 50


def test_time_left_counts_only_what_this_run_did():
    counts = shown.ProgressCounts(100, started=time.monotonic() - 10, before=50)
    for n in range(75):
        counts.add(replace(PASS, case=f"relu[x={n + 1},;f32]"), None)
    assert re.search(r"75 of 100 records, \d+ s left$", counts.describe_so_far())
    assert "left" not in shown.ProgressCounts(1).describe_so_far()


def test_without_a_terminal_there_is_a_line_every_ten_seconds(monkeypatch, capsys):
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    with shown.show_progress(4, [], quiet=False) as told:
        for seconds in (1, 9.9, 10.1, 15, 20.2):
            clock[0] = seconds
            told(replace(PASS, case=f"relu[x={seconds};f32]"), None)
    out = capsys.readouterr()
    assert out.out == ""
    lines = out.err.splitlines()
    assert lines == ["opproof: 3 of 4 records, 3 s left; at relu", "opproof: 5 of 4 records; at relu"]


def test_quiet_is_silent(monkeypatch, capsys):
    monkeypatch.setattr(shown, "EVERY", 0.0)
    with shown.show_progress(4, [], quiet=True) as told:
        told(WRONG, None)
    assert capsys.readouterr() == ("", "")


def test_the_first_failing_operator_is_told_at_once_and_once(capsys):
    repro = "opproof run -b torch --mode forward --case 'relu[x=3,;f32]' --memory 64 --out opproof-repro"
    with shown.show_progress(4, [], quiet=False) as told:
        told(PASS, None)
        told(replace(WRONG, op="exp", known="https://x.org: known"), None)  # a ledger explains it: it is none
        told(replace(PASS, verdict="HARNESS_ERROR"), None)  # nor is this one of the backend's
        assert capsys.readouterr().err == ""
        told(replace(WRONG, repro=repro), None)
        lines = capsys.readouterr().err.splitlines()
        told(replace(WRONG, op="abs", repro=repro), None)
        assert capsys.readouterr().err == ""
    assert lines[:2] == ["first failing operator: relu", "WRONG_VALUE  relu[x=3,;f32]  forward  torch"]
    assert lines[-1] == f"  {repro}"


def test_a_run_that_is_gone_on_with_tells_the_failure_before(capsys):
    with shown.show_progress(4, [PASS, WRONG], quiet=False) as told:
        told(replace(WRONG, op="abs"), None)
    assert capsys.readouterr().err.count("first failing operator: relu\n") == 1


def test_a_run_tells_the_first_failing_operator_by_its_line(tmp_path, capsys):
    backend = Path(samples.__file__).with_name("_small_backend.py")
    call = ("run", "-b", backend, "-o", "relu,neg", "--dtype", "f32", "--level", "smoke", "-j", 2, "--timeout", 20)
    status, out, err = opproof(capsys, *call, "--out", tmp_path / "a")
    assert status == 1
    assert err.count("first failing operator: neg\n") == 1
    (line,) = [row.strip() for row in err.splitlines() if row.startswith("  opproof run")]
    assert line in out  # the end repeats it, by cause
    assert line.endswith("--timeout 20 --out opproof-repro")
    ledger = tmp_path / "known.toml"
    entry = '[[known]]\npattern = "neg[x=7x33;f32]"\nunits = 1e30\nreason = "minus is not there"\n'
    ledger.write_text(entry, encoding="utf-8")
    status, _, err = opproof(capsys, *call, "--known", ledger, "--out", tmp_path / "b")
    assert (status, "first failing operator" in err) == (0, False)


PROGRAM = """
from dataclasses import replace
import report_samples as samples
from opproof.reports.progress import show_progress
one = samples.result("relu[x=3,;f32]", "forward", units=0.5)
bad = samples.result("abs[x=3,;f32]", "forward", verdict="WRONG_VALUE", diagnosis="a factor of 2")
more = samples.result("exp[x=3,;f32]", "forward", verdict="WRONG_VALUE", diagnosis="a factor of 3")
with show_progress(3, [], quiet=False) as told:
    told(replace(bad, repro="opproof run " + 60 * "-k a " + "--out opproof-repro"), None)
    told(one, None)
    told(more, None)
"""
REPRO = f"  opproof run {60 * '-k a '}--out opproof-repro"


def on_a_terminal(**more):
    """What a terminal gets of PROGRAM."""
    ours, theirs = pty.openpty()
    path = os.pathsep.join(filter(None, (str(Path(samples.__file__).parent), os.environ.get("PYTHONPATH", ""))))
    environment = {**os.environ, "PYTHONPATH": path, "TERM": "xterm", "COLUMNS": "100", "LINES": "30", **more}
    process = subprocess.Popen([sys.executable, "-c", PROGRAM], stderr=theirs, stdout=theirs, env=environment)
    os.close(theirs)
    text = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:
            break
        if not part:
            break
        text += part
    os.close(ours)
    assert process.wait() == 0
    return text.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="no pty")
def test_on_a_terminal_there_is_a_table_and_the_failures_as_they_come():
    text = on_a_terminal(NO_COLOR="")
    plain = re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", text).replace("\r\n", "\n")
    assert "first failing operator: abs\nWRONG_VALUE  abs[x=3,;f32]  forward  torch\n" in plain
    assert f"{REPRO}\n" in plain  # longer than the terminal is wide, and one line
    assert "WRONG_VALUE exp[x=3,;f32] forward: a factor of 3" in plain  # one line a kind, as they come
    assert "3 of 3 records, 2 fail" in plain
    table = re.search(r"operator +records +pass +fail\s+exp +1 +1\s+abs +1 +1\s+relu +1 +1", plain)
    assert plain.index(REPRO) < table.start()  # what fails stands first, and the first of it above the table
    assert "\x1b[31m" in text
    assert "\x1b[31m" not in on_a_terminal(NO_COLOR="1")
