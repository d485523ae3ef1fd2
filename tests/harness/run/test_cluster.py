"""The same records from the workers of a Dask cluster: real schedulers, real workers, some of which are lost."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest
from _dask import Started
from _runs import timeless

from opproof.reports import read_results

pytest.importorskip("distributed")

#: Right for abs, wrong for neg, and slow enough that a run lasts while workers are killed.
BACKEND = """
import time
import numpy as np

version = "7"


def supports(op, dtypes, params):
    return op in ("abs", "neg")


def forward(op, inputs, params):
    time.sleep(0.01)
    return abs(inputs[0]) if op == "abs" else inputs[0]
"""
OPS = ("-o", "abs,neg", "--dtype", "f32", "--mode", "forward", "--no-cache")


def opproof(*args, cwd=None):
    command = [sys.executable, "-m", "opproof.harness", *map(str, args)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd)


def ended(process, timeout=120):
    out, err = process.communicate(timeout=timeout)
    return process.returncode, out, err


@pytest.fixture
def cluster(tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    started = Started(folder)
    yield started
    started.stop()


@pytest.fixture
def at(tmp_path):
    """A folder with the backend, which the workers do not have."""
    (tmp_path / "backend.py").write_text(BACKEND)
    return tmp_path


def run(cluster, at, *more):
    args = ("-b", "./backend.py", *OPS, "--dask", cluster.address, "--out", "out", "--quiet")
    return opproof("run", *args, *more, cwd=at)


def until_records(at, count):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with contextlib.suppress(Exception):
            if len(read_results(at / "out")[1]) >= count:
                return
        time.sleep(0.1)
    raise AssertionError("no records came")


def test_a_killed_worker_costs_nothing_and_the_backends_file_travels(cluster, at):
    first, _ = cluster.start_worker(), cluster.start_worker()
    process = run(cluster, at)
    until_records(at, 20)
    first.send_signal(signal.SIGKILL)
    status, out, err = ended(process)
    assert (status, err) == (1, ""), out
    here = opproof("run", "-b", "./backend.py", *OPS, "--out", "here", "--quiet", "-j", 1, cwd=at)
    assert ended(here)[0] == 1
    assert timeless(at / "out") == timeless(at / "here")
    keys = [(r.case, r.mode) for r in read_results(at / "out")[1]]
    assert len(keys) == len(set(keys))


def test_a_scheduler_that_was_lost_is_waited_for(cluster, at):
    cluster.start_worker()
    process = run(cluster, at)
    until_records(at, 10)
    for one in cluster.processes:
        one.kill()
        one.wait()
    cluster.start_scheduler()
    cluster.start_worker()
    status, _, err = ended(process)
    assert (status, "is gone" in err) == (1, True), err
    header, results = read_results(at / "out")
    assert len(results) == len({(r.case, r.mode) for r in results}) == header.cases


def test_workers_of_another_version_are_left_out_by_name(cluster, at):
    (cluster.folder / "older.py").write_text('import opproof.harness\n\nopproof.harness.__version__ = "0.0.1"\n')
    cluster.start_worker("--preload", "older.py")
    status, _, err = ended(run(cluster, at))
    assert status == 2
    assert "it has opproof 0.0.1; expected" in err
    assert f"no worker of {cluster.address} can judge" in err
    cluster.start_worker()
    until = time.monotonic() + 60
    while status == 2 and time.monotonic() < until:  # the worker takes seconds to come
        status, _, err = ended(run(cluster, at))
    assert status == 1


def test_what_the_workers_lack_is_one_sentence(cluster, at):
    cluster.start_worker()
    status, _, err = ended(run(cluster, at, "--resource", "gpu=1"))
    assert (status, err.count("\n")) == (2, 1)
    assert "offers gpu=1; start one with --resources 'gpu=1'" in err
    status, _, err = ended(run(cluster, at, "--in-process"))
    assert (status, err.count("\n")) == (2, 1)
    cluster.stop()
    status, _, err = ended(run(cluster, at))
    assert (status, err.count("\n")) == (2, 1)
    assert f"no Dask scheduler answers at {cluster.address}" in err


def test_what_no_worker_of_this_machine_can_load_is_said_once(at):
    (at / "backend.py").write_text("raise ValueError('of my own')")
    status, _, err = ended(opproof("run", "-b", "./backend.py", *OPS, "--dask", "local", "-j", "2", cwd=at))
    assert (status, err.count("\n")) == (2, 1), err
    assert "backend file ./backend.py could not be imported: ValueError: of my own" in err


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupted_run_stores(cluster, at):
    cluster.start_worker()
    process = run(cluster, at)
    until_records(at, 5)
    process.send_signal(signal.SIGINT)
    status, out, err = ended(process)
    assert status == 130, (out, err)
    assert f"--resume out --dask {cluster.address}" in out + err
    status, out, err = ended(opproof("run", "--resume", "out", "--dask", cluster.address, cwd=at))
    assert status == 1, (out, err)
    header, results = read_results(at / "out")
    assert len(results) == len({(r.case, r.mode) for r in results}) == header.cases
