"""An interrupted run loses nothing, and goes on to the results that it would have had."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from _runs import mark, timeless

from opproof.core.errors import Stopped
from opproof.harness import __version__
from opproof.harness.__main__ import main
from opproof.harness.run.plan import Selection
from opproof.harness.run.results import resume as lock
from opproof.harness.run.results.resume import Settings, command_to_resume
from opproof.harness.run.runner import handle_interruption
from opproof.reports import read_results
from opproof.reports._results import encode_record

ARGS = ("-b", "numpy", "-o", "relu,tanh,sum", "--level", "smoke", "--seed", "2", "-j", "1")


def call(*args):
    with pytest.raises(SystemExit) as caught:
        main([str(a) for a in args])
    return caught.value.code


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
    mark(tmp_path)
    assert len(read_results(tmp_path)[1]) == kept
    assert call("run", "--resume", tmp_path, "-j", 2) == 0
    assert timeless(tmp_path) == timeless(whole)
    assert (tmp_path / "results.jsonl").read_bytes().splitlines(keepends=True)[1 : kept + 1] == lines[:kept]
    assert (tmp_path / "report.html").is_file()
    assert f"{len(lines)} records" in capfd.readouterr().out


def test_resume_of_a_run_that_was_done(whole, tmp_path, capfd):
    for name in ("results.jsonl", "results.marks"):
        (tmp_path / name).write_bytes((whole / name).read_bytes())
    assert call("run", "--resume", tmp_path) == 0
    assert timeless(tmp_path) == timeless(whole)
    assert read_results(tmp_path)[1] == read_results(whole)[1]  # with their times: none was made again


def test_options_are_those_of_the_run(whole, tmp_path):
    """Except those that change no verdict, which may be given anew."""
    header, *lines = (whole / "results.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "results.jsonl").write_bytes(header + lines[0])
    mark(tmp_path)
    assert call("run", "--resume", tmp_path, "-j", 1, "--timeout", 9, "-o", "exp", "--seed", 9) == 0
    options = read_results(tmp_path)[0].options
    assert options["selection"] == json.loads(header)["options"]["selection"]
    assert options["timeout"] == 9


def begun(whole, folder, kept=3, **changes):
    """An interrupted run in `folder`: the first few records of `whole`, under its header with `changes`."""
    header, results = read_results(whole)
    folder.mkdir(exist_ok=True)
    lines = [encode_record(replace(header, **changes)), *map(encode_record, results[:kept])]
    (folder / "results.jsonl").write_bytes(b"".join(lines))
    mark(folder)
    return header, results


def test_limits_not_given_are_those_of_the_run(whole, tmp_path):
    header, _ = read_results(whole)
    begun(whole, tmp_path, options=header.options | {"timeout": 77.0, "memory": 3000, "jobs": 1})
    assert call("run", "--resume", tmp_path, "--memory", 2000) == 0
    options = read_results(tmp_path)[0].options
    assert (options["timeout"], options["memory"], options["jobs"]) == (77, 2000, 1)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"opproof": "0.0.7"}, f"it is of opproof 0.0.7, and this is {__version__}"),
        ({"constants": {"C": 8.0}}, "its bound is C = 8, and this opproof's is C = 16, stored = 2"),
        ({"backends": "0.1"}, "the version of numpy was '0.1', and is '"),
        ({"backends": []}, "the name of numpy was None, and is 'numpy'"),
    ],
)
def test_what_was_measured_otherwise_is_not_mixed(whole, tmp_path, capfd, changes, said):
    if isinstance(version := changes.get("backends"), str):
        changes = {"backends": [about | {"version": version} for about in read_results(whole)[0].backends]}
    begun(whole, tmp_path, **changes)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    assert call("run", "--resume", tmp_path) == 2
    err = capfd.readouterr().err
    assert err.startswith(f"opproof: {tmp_path} cannot be gone on with: ")
    assert said in err
    assert err.count("\n") == 1
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


def test_what_opproof_failed_at_is_tried_again(whole, tmp_path):
    header, results = read_results(whole)
    ours = replace(results[1], verdict="HARNESS_ERROR", message="no memory for the reference")
    crash = replace(results[2], verdict="CRASH")
    lines = [encode_record(header), *map(encode_record, [results[0], ours, crash, *results[3:]])]
    (tmp_path / "results.jsonl").write_bytes(b"".join(lines))
    mark(tmp_path)
    assert call("run", "--resume", tmp_path) == 1  # for the crash, which stays
    verdicts = {(r.case, r.mode): r.verdict for r in read_results(tmp_path)[1]}
    assert verdicts.pop((crash.case, crash.mode)) == "CRASH"
    assert set(verdicts.values()) == {"PASS"}
    assert len(verdicts) == len(results) - 1


def test_a_record_that_is_there_twice_counts_once(whole, tmp_path):
    header, results = begun(whole, tmp_path)
    with (tmp_path / "results.jsonl").open("ab") as file:
        file.write(encode_record(replace(results[0], message="later")))
    mark(tmp_path)
    assert call("run", "--resume", tmp_path) == 0
    again = read_results(tmp_path)[1]
    assert len(again) == len(results) == header.cases
    assert [r.message for r in again if (r.case, r.mode) == (results[0].case, results[0].mode)] == ["later"]


def test_the_results_file_itself_may_be_given(whole, tmp_path):
    begun(whole, tmp_path)
    assert call("run", "--resume", tmp_path / "results.jsonl") == 0
    assert timeless(tmp_path) == timeless(whole)


SLOW = """
import time
import numpy as np

def forward(op, inputs, params):
    time.sleep(0.05)
    return np.maximum(inputs[0], inputs[0].dtype.type(0))
"""


@contextmanager
def running(folder, *args):
    """`opproof run` of a slow backend in `folder`, after a few records."""
    (folder / "slow.py").write_text(SLOW, encoding="utf-8")
    command = [sys.executable, "-m", "opproof.harness", "run", "-b", "slow.py", "-o", "relu", "-j", "1", *args]
    with subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A shell that runs the tests in the background has them ignore SIGINT, nohup SIGHUP.
        preexec_fn=lambda: [signal.signal(s, signal.SIG_DFL) for s in (signal.SIGINT, signal.SIGHUP)],  # noqa: PLW1509
    ) as process:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not any(
            path.read_bytes().count(b"\n") > 2 for path in folder.glob("*/results.jsonl")
        ):
            time.sleep(0.05)
        assert process.poll() is None, process.stderr.read()
        yield process


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize(
    ("number", "how"),
    [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "stopped by SIGTERM"), (signal.SIGHUP, "stopped by SIGHUP")],
)
def test_stopped_from_outside(tmp_path, number, how):
    with running(tmp_path, "--out", "my report") as process:
        os.kill(process.pid, number)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    command = "opproof run --resume 'my report'"
    assert f"opproof: {how}; what was measured is kept, `{command}` goes on.\n" in err
    assert "Traceback" not in err
    header, kept = read_results(tmp_path / "my report")
    assert 2 <= len(kept) < header.cases
    names = sorted(p.name for p in (tmp_path / "my report").iterdir())
    assert names == ["report.html", "report.md", "results.jsonl", "results.marks"]  # of what there is
    assert f"; {header.cases - len(kept)} planned records did not run." in out


def test_a_run_that_is_killed_leaves_its_folder_free(tmp_path, monkeypatch):
    """At once, though its judges take a while to notice."""
    out = tmp_path / "opproof-report"
    with running(tmp_path) as process:
        with pytest.raises(lock.FolderLocked, match=f"process {process.pid} on "):
            lock.take(out)
        process.kill()
    lock.release(lock.take(out))
    kept = read_results(out)[1]
    assert len(kept) >= 2
    monkeypatch.chdir(tmp_path)
    assert call("run", "--resume", "opproof-report") in (0, 1)
    assert read_results(out)[1][: len(kept)] == kept  # with their times: they were believed


def test_the_command_that_stores(tmp_path):
    settings = Settings(("numpy",), Selection(), proposals=tmp_path / "a b.toml")
    assert command_to_resume(settings, Path("opproof-report-2")) == (
        f"opproof run --resume opproof-report-2 --update-known '{tmp_path}/a b.toml'"
    )


def test_stopped_before_anything_was_measured():
    with pytest.raises(Stopped, match="interrupted; nothing was run") as caught, handle_interruption():
        raise KeyboardInterrupt
    assert caught.value.status == 130


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_a_signal_that_is_ignored_stays_so():
    """As under nohup; and what was there before is there again."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with handle_interruption():
            os.kill(os.getpid(), signal.SIGHUP)
            assert signal.getsignal(signal.SIGTERM) != signal.SIG_DFL
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    finally:
        signal.signal(signal.SIGHUP, before)
