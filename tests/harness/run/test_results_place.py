"""Where a run writes: one run at a time in a folder, and never over anything but what the same call left."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace

import pytest
import report_samples as samples
from _runs import opproof

from opproof.core.errors import UsageError
from opproof.harness.run.results import resume as lock
from opproof.harness.run.results.resume import describe_foreign, with_locked_folder
from opproof.reports import read_results, write_line

OPTIONS = {
    "backends": ["numpy"],
    "selection": {"ops": ["relu"], "seed": 0},
    "convention": "any",
    "grad_oracle": "reference",
    "strict_subnormals": False,
    "in_process": False,
    "jobs": 1,
    "timeout": 30.0,
}
HEADER = replace(samples.header(1), options=OPTIONS)
RECORD = samples.result("relu[x=3,;f32]", "forward", "numpy")
RUN = ("run", "-b", "numpy", "-o", "relu", "--level", "smoke", "--dtype", "f32", "-j1", "--quiet")


def asked(**changes):
    return replace(HEADER, options={**OPTIONS, **changes})


def written(folder, header=HEADER):
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "results.jsonl").open("wb") as file:
        write_line(file, header)
        write_line(file, RECORD)
    return folder


def place(out, header=HEADER, **how):
    with with_locked_folder(out, header, **how) as folder:
        assert (folder / lock.LOCK_FILE).is_file()
        return folder


def contents(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_free_folder_is_taken_and_no_lock_stays(tmp_path):
    out = tmp_path / "deep" / "out"
    assert place(out) == out
    assert list(out.iterdir()) == []
    (out / "notes.txt").write_text("mine", encoding="utf-8")
    assert place(out) == out


def test_a_run_of_the_same_call_is_replaced(tmp_path, capsys):
    out = written(tmp_path / "out")
    assert place(out, asked(jobs=7, timeout=1.0, known="ledger.toml")) == out
    assert capsys.readouterr().err == ""


OTHERS = {
    "backend": {"backends": ["torch"]},
    "operator": {"selection": {"ops": ["tanh"], "seed": 0}},
    "seed": {"selection": {"ops": ["relu"], "seed": 1}},
    "convention": {"convention": "torch"},
    "oracle": {"grad_oracle": "self"},
    "subnormals": {"strict_subnormals": True},
    "process": {"in_process": True},
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_run_of_another_call_is_kept(tmp_path, capsys, name):
    out = written(tmp_path / "out")
    before = contents(out)
    assert place(out, asked(**OTHERS[name])) == tmp_path / "out-2"
    assert contents(out) == before
    said = f"opproof: {out} holds the run of another call, which is kept; this run goes to {tmp_path / 'out-2'}.\n"
    assert capsys.readouterr().err == said


def test_the_next_free_name_or_the_own_one(tmp_path):
    first, second, third = asked(backends=["a"]), asked(backends=["b"]), asked(backends=["c"])
    out = written(tmp_path / "out", first)
    assert place(out, second) == written(tmp_path / "out-2", second)
    assert place(out, second) == tmp_path / "out-2"
    (tmp_path / "out-3").write_text("a file", encoding="utf-8")
    held = lock.take(tmp_path / "out-4")
    assert place(out, third) == tmp_path / "out-5"
    lock.release(held)
    assert place(out, first) == out


FOREIGN = {
    b"": "that this opproof did not write",
    b"some program's own lines\n": "that this opproof did not write",
    b'{"metric": 3}\n{"metric": 4}\n': "that this opproof did not write",
    b'{"opproof": "\xff"}\n': "that this opproof did not write",
    b'{"opproof": "9", "schema": 99}\n': "that this opproof did not write",
}


@pytest.mark.parametrize("content", FOREIGN)
def test_what_is_not_ours_is_kept(tmp_path, capsys, content):
    out = tmp_path / "out"
    out.mkdir()
    (out / "results.jsonl").write_bytes(content)
    assert place(out) == tmp_path / "out-2"
    assert contents(out) == {(out / "results.jsonl").relative_to(out): content}
    assert FOREIGN[content] in capsys.readouterr().err


def test_other_things_by_our_names_are_kept(tmp_path, capsys):
    (tmp_path / "folder" / "results.jsonl").mkdir(parents=True)
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "results.jsonl").symlink_to(tmp_path / "nowhere")
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "results.jsonl")
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "report.html").write_text("another program's", encoding="utf-8")
    for name in ("folder", "link", "pipe"):
        assert describe_foreign(tmp_path / name, HEADER) == "something else by the name of results.jsonl"
    assert describe_foreign(tmp_path / "page", HEADER) == "a report.html without its results.jsonl"
    assert place(tmp_path / "page") == tmp_path / "page-2"
    assert describe_foreign(tmp_path, HEADER) == ""


def test_a_folder_without_a_name_of_its_own(tmp_path, monkeypatch):
    written(tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="holds the run of another call, which is kept; give another folder"):
        place(tmp_path.__class__("."), asked(convention="torch"))


def test_a_folder_in_use_is_refused(tmp_path, capsys):
    held = lock.take(tmp_path / "out")
    status, out, err = opproof(capsys, *RUN, "--out", tmp_path / "out")
    assert (status, out) == (2, "")
    assert f"opproof: {tmp_path / 'out'} is in use by another run, process {os.getpid()} on " in err
    assert err.count("\n") == 1
    assert [p.name for p in (tmp_path / "out").iterdir()] == [lock.LOCK_FILE]
    lock.release(held)
    assert opproof(capsys, *RUN, "--out", tmp_path / "out")[0] == 0


HOLD = """
import sys, time
from pathlib import Path
from opproof.harness.run.results import resume as lock
lock.take(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


def test_the_lock_of_a_dead_process_is_taken_over(tmp_path):
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(lock.FolderLocked, match=f"in use by another run, process {holder.pid} on "):
            lock.take(tmp_path)
        with pytest.raises(UsageError, match="in use"):  # nor is it gone on with
            place(tmp_path, resume=True)
        os.kill(holder.pid, signal.SIGKILL)
    assert (tmp_path / lock.LOCK_FILE).is_file()
    lock.release(lock.take(tmp_path))
    assert not (tmp_path / lock.LOCK_FILE).exists()


def test_of_runs_started_at_once_one_gets_the_folder(tmp_path):
    """Also while others give it back, and remove its lock file, all the time."""
    start, inside, most, taken = threading.Barrier(4), [], [], []

    def contend():
        start.wait()
        for _ in range(200):
            try:
                held = lock.take(tmp_path)
            except lock.FolderLocked:
                continue
            inside.append(1)
            most.append(len(inside))
            inside.pop()
            taken.append(1)
            lock.release(held)

    threads = [threading.Thread(target=contend) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert max(most) == 1
    assert len(taken) > 4
    assert list(tmp_path.iterdir()) == []


def test_a_lock_file_that_goes_while_it_is_locked(tmp_path, monkeypatch):
    """The run before ends between the opening of its lock file and the locking: that file locks nobody out."""

    def late(descriptor, how):
        monkeypatch.undo()
        (tmp_path / lock.LOCK_FILE).unlink()
        fcntl.flock(descriptor, how)

    monkeypatch.setattr("fcntl.flock", late)
    held = lock.take(tmp_path)
    with pytest.raises(lock.FolderLocked):
        lock.take(tmp_path)
    lock.release(held)
    assert list(tmp_path.iterdir()) == []


def test_runs_of_two_calls_to_one_folder(tmp_path, capsys):
    """Through the command line: both are whole afterwards, and each report names its own files."""
    out = tmp_path / "out"
    assert opproof(capsys, *RUN, "--out", out)[0] == 0
    before = contents(out)
    status, shown, err = opproof(capsys, *RUN, "--mode", "forward", "--out", out)
    assert status == 0
    assert err == f"opproof: {out} holds the run of another call, which is kept; this run goes to {out}-2.\n"
    assert f"{out}-2/report.html" in shown
    assert contents(out) == before
    assert {r.mode for r in read_results(tmp_path / "out-2")[1]} == {"forward"}
    assert opproof(capsys, *RUN, "--out", out)[2] == ""  # the same call again
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "out-2"]


def test_following_a_repro_line_leaves_the_run_alone(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert opproof(capsys, *RUN)[0] == 0
    before = contents(tmp_path / "opproof-report")
    record = read_results(tmp_path / "opproof-report")[1][0]
    import shlex

    program, *args = shlex.split(record.repro)
    assert program == "opproof"
    assert opproof(capsys, *args)[0] == 0
    assert contents(tmp_path / "opproof-report") == before
    assert [r.case for r in read_results(tmp_path / "opproof-repro")[1]] == [record.case]


def test_a_merge_goes_to_the_next_free_name_too(tmp_path, capsys):
    for k in (1, 2):
        opproof(capsys, *RUN, "--shard", f"{k}/2", "--out", tmp_path / str(k))
    whole = tmp_path / "whole"
    whole.mkdir()
    (whole / "results.jsonl").write_text(json.dumps({"another": "program"}), encoding="utf-8")
    status, shown, err = opproof(capsys, "merge", tmp_path / "1", tmp_path / "2", "--out", whole)
    assert (status, err.count("\n")) == (0, 1)
    assert "goes to" in err
    assert f"{whole}-2/report.html" in shown
    assert json.loads((whole / "results.jsonl").read_text(encoding="utf-8")) == {"another": "program"}
