"""A program of a backend's own: how it ended, that all it started ends with it, and that nothing else does."""

import subprocess
import sys
import threading
import time

import psutil
import pytest

from opproof.backends.worker.sandbox import supervisor
from opproof.harness.run.standalone.caller import run

#: Leaves its family behind, and says which process it is.
DAEMON = """
import os, sys, time
if not os.fork():
    os.setsid()
    if not os.fork():
        with open(sys.argv[1] + ".part", "w") as file:
            file.write(str(os.getpid()))
        os.rename(sys.argv[1] + ".part", sys.argv[1])
        time.sleep(600)
    os._exit(0)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
time.sleep(float(sys.argv[2]))
"""
_GET_CHILD_SUBREAPER = 37  # of <sys/prctl.h>


@pytest.mark.parametrize(
    ("script", "status"), [("", 0), ("raise SystemExit(3)", 3), ("import os; os.kill(os.getpid(), 9)", -9)]
)
def test_how_it_ended(tmp_path, script, status):
    assert run(script, tmp_path, [], 1e9) == status


def test_one_that_takes_too_long_is_ended(tmp_path):
    begun = time.monotonic()
    assert run("import time; time.sleep(600)", tmp_path, [], 0.5) is None
    assert time.monotonic() - begun < 60


@pytest.mark.parametrize(("seconds", "status"), [("0", 0), ("600", None)])
def test_what_it_started_ends_with_it(tmp_path, seconds, status):
    told = tmp_path / "pid"
    assert run(DAEMON, tmp_path, [str(told), seconds], 60 if status == 0 else 5) == status
    assert not psutil.pid_exists(int(told.read_text()))


def test_what_others_start_meanwhile_goes_on(tmp_path):
    """An opproof that runs in a program of the user's has not made all that this program has."""
    started = []

    def start():
        time.sleep(0.5)
        started.append(subprocess.Popen(["sleep", "600"]))

    thread = threading.Thread(target=start)
    thread.start()
    try:
        assert run("import time; time.sleep(2)", tmp_path, [], 60) == 0
        thread.join()
        assert started[0].poll() is None
    finally:
        thread.join()
        started[0].kill()
        started[0].wait()


@pytest.mark.skipif(sys.platform != "linux", reason="adopting is Linux's")
def test_who_runs_it_adopts_nothing(tmp_path):
    script = (
        "import ctypes, pathlib; from opproof.harness.run.standalone.caller import run; "
        f"assert run('', pathlib.Path({str(tmp_path)!r}), [], 60) == 0; "
        f"adopts = ctypes.c_int(); ctypes.CDLL(None).prctl({_GET_CHILD_SUBREAPER}, ctypes.byref(adopts)); "
        "print(adopts.value)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"


def test_children_are_told_while_threads_end():
    """Threads that end while the list is read take no child from it."""
    child = subprocess.Popen(["sleep", "600"])
    try:
        over = threading.Event()

        def churn():
            while not over.is_set():
                thread = threading.Thread(target=lambda: None)
                thread.start()
                thread.join()

        churning = [threading.Thread(target=churn) for _ in range(2)]
        for thread in churning:
            thread.start()
        missing = sum(child.pid not in supervisor.list_children(psutil.Process().pid) for _ in range(2000))
        over.set()
        for thread in churning:
            thread.join()
        assert not missing
    finally:
        child.kill()
        child.wait()
