"""A backend leaves processes behind, in sessions of their own and without a parent: none outlives its run."""

import os
import shlex
import signal
import subprocess
import sys
import time

import pytest
from _attacker import MARK, command, left, marked, written

from opproof.reports import read_results

psutil = pytest.importorskip("psutil")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="marks are read in Linux's /proc")

#: Each call leaves three; the first case is waited for, the second hangs where a file says so.
BREEDS = """
def breed(inputs):
    subprocess.Popen(["sleep", "6001"])
    subprocess.Popen(["sleep", "6002"], start_new_session=True)
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execvp("sleep", ["sleep", "6003"])
        os._exit(0)

def hang(inputs):
    while os.path.exists({hangs!r}):
        time.sleep(0.1)

ATTACKS = {"neg": breed, "exp": hang}
"""
SLEEPS = ("sleep 6001", "sleep 6002", "sleep 6003")


def bred(mark):
    """How many of each kind there are."""
    lines = list(marked(mark).values())
    return [sum(line.startswith(sleep) for line in lines) for sleep in SLEEPS]


def backend(folder, kind):
    path = written(folder, BREEDS.replace("{hangs!r}", repr(str(folder / "hangs"))))
    host = [sys.executable, "-m", "opproof.backends.worker", path]
    return path if kind == "python" else f"exec:{shlex.join(host)}"


def started(folder, kind, mark):
    """A run that has bred, and hangs."""
    (folder / "hangs").touch()
    run = subprocess.Popen(
        command(folder, backend(folder, kind), ("neg", "exp"), "--timeout", "300"),
        env={**os.environ, MARK: mark},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    ends = time.monotonic() + 120
    while time.monotonic() < ends and min(bred(mark)) < 3:
        time.sleep(0.1)
    assert min(bred(mark)) >= 3
    return run


def ended(run, mark):
    """Its exit status; on the way there it hangs no more."""
    try:
        return run.wait(timeout=200)
    finally:
        run.kill()
        run.wait()
        for process in left(mark):  # of a test that fails
            os.kill(process, signal.SIGKILL)


@pytest.mark.parametrize("kind", ["python", "exec"])
def test_a_run_that_ends(tmp_path, kind):
    mark = str(tmp_path)
    done = subprocess.run(
        command(tmp_path, backend(tmp_path, kind), ("neg", "exp")),
        env={**os.environ, MARK: mark},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert left(mark) == {}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda n: n.name)
@pytest.mark.parametrize("kind", ["python", "exec"])
def test_a_run_that_is_ended(tmp_path, kind, number):
    mark = str(tmp_path)
    run = started(tmp_path, kind, mark)
    try:
        run.send_signal(number)
        run.wait(timeout=100)
        assert left(mark) == {}
    finally:
        ended(run, mark)


@pytest.mark.parametrize("kind", ["python", "exec"])
def test_a_judge_that_is_killed(tmp_path, kind):
    """The case that it had is asked again elsewhere."""
    mark = str(tmp_path)
    run = started(tmp_path, kind, mark)
    try:
        (supervisor, *_) = [p for p, line in marked(mark).items() if "supervisor.py" in line]
        judge = psutil.Process(supervisor).parent()
        (tmp_path / "hangs").unlink()
        os.kill(judge.pid, signal.SIGKILL)
        assert run.wait(timeout=200) == 0
        assert left(mark) == {}
    finally:
        ended(run, mark)
    assert {str(r.verdict) for r in read_results(tmp_path / "out")[1]} == {"PASS"}
