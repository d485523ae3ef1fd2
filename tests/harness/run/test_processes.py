"""No process outlives its run: neither a host, nor what it started, whatever is killed and however it hid."""

import os
import shlex
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from opproof.reports import read_results

psutil = pytest.importorskip("psutil")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="who adopts orphans is decided on Linux alone")

CASE = "sqrt[x=2x3;f32]"

# Notes itself and two processes that hide, one in a session of its own and one whose parent is gone; the first of
# its kind hangs, the next one answers.
BREEDS = """
import os, subprocess, time

HANGS = not os.path.exists({pids!r})


def note(pid):
    with open({pids!r}, "a") as file:
        file.write(f"{{pid}}\\n")


note(os.getpid())
note(subprocess.Popen(["sleep", "600"], start_new_session=True).pid)
heard, said = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        note(os.getpid())
        os.write(said, b".")
        os.execvp("sleep", ["sleep", "600"])
    os._exit(0)
os.read(heard, 1)  # a family that is ended before has noted two
"""

PYTHON = """
from opproof.backends.numpy import NumPy


def forward(op, inputs, params):
    while HANGS:
        time.sleep(1)
    return NumPy().forward(op, inputs, params)
"""


def backend(kind, folder, pids):
    """A backend that breeds, as given to -b."""
    path, breeds = folder / "breeds.py", BREEDS.format(pids=str(pids))
    if kind == "python":
        path.write_text(breeds + PYTHON, encoding="utf-8")
        return str(path)
    drill = Path(__file__).parents[2].joinpath("_exec_backend.py").read_text(encoding="utf-8")
    hang = "lambda answer: time.sleep(60)"
    assert hang in drill
    text = drill.replace(hang, "lambda answer: (time.sleep(600) if HANGS else None) or answer")
    path.write_text(text.replace("import json\n", breeds + "import json\n", 1), encoding="utf-8")
    return "exec:" + shlex.join([sys.executable, str(path)])


@contextmanager
def started(folder, kind, timeout):
    """A run that has reached the hang, and the file of process ids."""
    pids = folder / "pids"
    command = [sys.executable, "-m", "opproof.harness", "run", "-b", backend(kind, folder, pids), "--case", CASE]
    options = ["--mode", "forward", "-j", "1", "--timeout", str(timeout), "--quiet", "--out", str(folder / "out")]
    run = psutil.Popen([*command, *options], stdout=subprocess.DEVNULL)
    try:
        ends = time.monotonic() + 90
        while time.monotonic() < ends and not (noted(pids)[2:] and (folder / "out" / "results.jsonl").exists()):
            time.sleep(0.1)
        assert len(noted(pids)) == 3
        yield run, pids
    finally:
        with suppress(psutil.NoSuchProcess):
            run.kill()
            run.wait()


def noted(pids):
    return [int(line) for line in pids.read_text(encoding="utf-8").split()] if pids.exists() else []


def assert_gone(pids):
    ends = time.monotonic() + 20
    while time.monotonic() < ends and any(map(alive, noted(pids))):
        time.sleep(0.05)
    assert not [pid for pid in noted(pids) if alive(pid)]


def alive(pid):
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False


def is_judge(process):
    """A judge has supervisors below it."""
    return any(b"supervisor.py" in Path(f"/proc/{p.pid}/cmdline").read_bytes() for p in process.children())


@pytest.mark.parametrize("kind", ["python", "exec"])
def test_the_run_is_killed(tmp_path, kind):
    with started(tmp_path, kind, timeout=100) as (run, pids):
        family = run.children(recursive=True)
        assert len(family) >= 6  # the fork server, a judge, a supervisor, the host and what it started
        assert set(noted(pids)) <= {p.pid for p in family}
        run.send_signal(signal.SIGKILL)
        run.wait()
        assert psutil.wait_procs(family, timeout=20)[1] == []
        assert_gone(pids)


@pytest.mark.parametrize("kind", ["python", "exec"])
def test_a_judge_is_killed(tmp_path, kind):
    """Its case has a second try with another judge and another host, and passes there."""
    with started(tmp_path, kind, timeout=100) as (run, pids):
        (judge,) = [p for p in run.children(recursive=True) if is_judge(p)]
        os.kill(judge.pid, signal.SIGKILL)
        assert run.wait(timeout=100) == 0
        assert [r.verdict for r in read_results(tmp_path / "out")[1]] == ["PASS"]
        assert len(noted(pids)) == (9 if kind == "python" else 6)  # a file is asked by a program of its own too
        assert_gone(pids)


@pytest.mark.parametrize("kind", ["python", "exec"])
def test_nobody_is_killed(tmp_path, kind):
    with started(tmp_path, kind, timeout=5) as (run, pids):
        assert run.wait(timeout=100) == 1
        assert [r.verdict for r in read_results(tmp_path / "out")[1]] == ["TIMEOUT"]
        assert_gone(pids)
