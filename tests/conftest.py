"""What all tests share."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest

#: Of several processes one runs all tests of a file, and of files that are named alike here.
TOGETHER = {
    "test_attacks_on_the_cluster.py": "dask",  # one of them joins every open scheduler of the machine
    "test_cluster.py": "dask",
    "test_cheats.py": "cheats",  # they share one run
    "test_diagnosis.py": "diagnosis",  # what is measured once serves several tests
    "test_report_browser.py": "browser",  # Playwright's browser lives in one process
    "test_tvm_ffi.py": "tvm",  # a library is compiled once
    "test_bench_looks.py": "bench",
    "test_bench_command.py": "bench",
}

# Worker processes of several tests run at once; each keeps to one thread.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# A background job of a script ignores SIGINT, and so would everything that it starts; tests of Ctrl-C send it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Runs of tests share a cache of their own, which ends with them.
os.environ["OPPROOF_CACHE"] = tempfile.mkdtemp(prefix="opproof-tests-")
atexit.register(shutil.rmtree, os.environ["OPPROOF_CACHE"], ignore_errors=True)

# The tests' faulty backends are made of the references, which hosts refuse to backends otherwise.
os.environ["OPPROOF_REFERENCES"] = "allowed"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """One more than there are cores: with as many 7 % of the time is idle, as some tests wait for hosts that hang."""
    del config
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """By these names, not by marks: those that xdist 3.8 writes into node ids do not come through pytest 9.2."""
    from xdist.scheduler import LoadScopeScheduling

    class Together(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return TOGETHER.get(Path(nodeid.partition("::")[0]).name, nodeid)

    return Together(config, log)
