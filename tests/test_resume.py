"""An interrupted run loses nothing, and goes on to the results that it would have had."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from opproof.harness.__main__ import main
from opproof.reports import read_results

ARGS = ("-b", "numpy", "-o", "relu,tanh,sum", "--level", "smoke", "--seed", "2", "-j", "1")


def call(*args):
    with pytest.raises(SystemExit) as caught:
        main([str(a) for a in args])
    return caught.value.code


def records(out):
    """Every record, in a fixed order, without its time."""
    return sorted((replace(r, seconds=0) for r in read_results(out)[1]), key=lambda r: (r.case, r.mode))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    out = tmp_path_factory.mktemp("whole")
    assert call("run", *ARGS, "--out", out) == 0
    return out


@pytest.mark.parametrize("kept", [0, 1, 7])
@pytest.mark.parametrize("cut", [0, 40])
def test_resume(whole, tmp_path, capfd, kept, cut):
    """`kept` records are whole, `cut` bytes of the next are there."""
    header, *lines = (whole / "results.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "results.jsonl").write_bytes(header + b"".join(lines[:kept]) + lines[kept][:cut])
    assert len(read_results(tmp_path)[1]) == kept
    assert call("run", "--resume", tmp_path, "-j", 2) == 0
    assert records(tmp_path) == records(whole)
    assert (tmp_path / "results.jsonl").read_bytes().splitlines(keepends=True)[1 : kept + 1] == lines[:kept]
    assert (tmp_path / "report.html").is_file()
    assert f"{len(lines)} records" in capfd.readouterr().out


def test_resume_of_a_run_that_was_done(whole, tmp_path, capfd):
    (tmp_path / "results.jsonl").write_bytes((whole / "results.jsonl").read_bytes())
    assert call("run", "--resume", tmp_path) == 0
    assert records(tmp_path) == records(whole)


def test_options_are_those_of_the_run(whole, tmp_path):
    """Except those that change no verdict, which may be given anew."""
    header, *lines = (whole / "results.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "results.jsonl").write_bytes(header + lines[0])
    assert call("run", "--resume", tmp_path, "-j", 1, "--timeout", 9, "-o", "exp", "--seed", 9) == 0
    options = read_results(tmp_path)[0].options
    assert options["selection"] == json.loads(header)["options"]["selection"]
    assert options["timeout"] == 9


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGINT")
def test_interrupted_by_the_keyboard(tmp_path):
    slow = "import time\nfrom opproof.backends.numpy import NumPy\n"
    slow += "def forward(*call):\n    time.sleep(0.05)\n    return NumPy().forward(*call)\n"
    (tmp_path / "slow.py").write_text(slow, encoding="utf-8")
    command = [sys.executable, "-m", "opproof.harness", "run", "-b", "slow.py", "-o", "relu", "-j", "1"]
    running = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A shell that runs the tests in the background has them ignore SIGINT.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    results = tmp_path / "opproof-report" / "results.jsonl"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (results.is_file() and results.read_bytes().count(b"\n") > 2):
        time.sleep(0.05)
    os.kill(running.pid, signal.SIGINT)
    _, said = running.communicate(timeout=30)
    assert running.returncode == 130
    assert "opproof: interrupted; what was measured is kept, `opproof run --resume DIR` goes on." in said
    assert "Traceback" not in said
    header, kept = read_results(tmp_path / "opproof-report")
    assert 2 <= len(kept) < header.cases
