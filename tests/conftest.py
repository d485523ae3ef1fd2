"""What all tests share."""

from __future__ import annotations

import atexit
import functools
import gc
import os
import shutil
import signal
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from _usual_values import leave_out

from opproof.cases import _registry

#: Where tests find what is measured outside of the wheel.
sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

#: Of several processes one runs all tests of a file, which share what is imported, made and measured once; and of files
#: that are named alike here.
TOGETHER = {
    "test_attacks_on_the_cluster.py": "dask",  # one of them joins every open scheduler of the machine
    "test_cluster.py": "dask",
    "test_bench_looks.py": "bench",
    "test_bench_command.py": "bench",
}

#: Files of minutes, whose tests share little: one process runs all cases of a test.
APART = ("test_fused.py",)

#: Files that take longest come first, the longest ahead: what is begun last is short.
FIRST = (
    *("test_fused.py", "test_array.py", "test_report_browser.py", "test_cluster.py", "test_attacks_on_the_cluster.py"),
    *("test_where_nobody_judges.py", "test_honest_backends.py", "test_fault_drill.py", "test_check_command.py"),
    *("test_honest.py", "test_other_circumstances.py", "test_pytest_plugin.py", "test_cheats.py", "test_defects.py"),
    *("test_docs_of_check.py", "test_planted_defects.py", "test_init.py", "test_capabilities.py", "test_selfcheck.py"),
    *("test_rare_values.py", "test_other_algorithms.py", "test_arguments_of_other_seeds.py", "test_limits.py"),
    *("test_attention_by_its_output.py", "test_attacks_on_the_references.py", "test_diagnosis.py", "test_slices.py"),
    *("test_exec.py", "test_hosts.py", "test_suspects.py", "test_bench_looks.py", "test_kinks_of_torch.py"),
    *("test_ci_examples.py", "test_wild.py", "test_resume.py", "test_unwatched.py", "test_periods.py"),
)

# Hundreds of programs that tests start would compile all of the package again: a fifth of a second each.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Rows of all operators are read by hundreds of tests, and by what collects them: a process reads those of each once.
_READ = functools.cache(_registry.listed_cases)
_registry.listed_cases = lambda op, level="standard": list(_READ(op, level))

# What is imported and collected stays until the end: it is looked through once, and not with each test's garbage.
gc.disable()

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


def scope_of(nodeid):
    """What one process runs together: a file, files that TOGETHER names alike, or the cases of a test of APART."""
    file = Path(nodeid.partition("::")[0]).name
    return nodeid.partition("[")[0] if file in APART else TOGETHER.get(file, file)


def pytest_collection_finish(session):
    del session
    gc.freeze()
    gc.enable()


def pytest_unconfigure(config):
    del config
    gc.unfreeze()  # extensions look at the end whether all of theirs is gone


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Of several processes each begins what is long first: files by name, then tests by how many cases they have."""
    if not hasattr(config, "workerinput"):
        return
    cases = Counter(scope_of(item.nodeid) for item in items)
    order = {name: n for n, name in enumerate(FIRST)}
    items.sort(key=lambda item: (order.get(item.path.name, len(FIRST)), -cases[scope_of(item.nodeid)]))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """By these names, not by marks: those that xdist 3.8 writes into node ids do not come through pytest 9.2.

    By whole files: the scheduler looks through all that it gave a process each time one of its tests ends, and of
    17,000 units that took half a minute.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Together(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return scope_of(nodeid)

    config.option.loadscopereorder = False  # they come in the order in which they are to be begun
    return Together(config, log)


@pytest.fixture
def usual_values(request, monkeypatch):
    """Checks in this process try what inputs usually are, but for the tests that `_usual_values` names."""
    names = {request.module.__name__.rpartition(".")[2], request.node.originalname, request.node.name}
    leave_out(names, monkeypatch)
