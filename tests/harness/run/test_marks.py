"""A run that is gone on with believes the records that this user's opproof wrote, and no others."""

import shutil
import subprocess
import sys
from dataclasses import replace

import pytest
from _runs import mark, opproof, timeless

from opproof.harness.run.results.file import ResultsFile, Signer, select_signed
from opproof.reports import read_header, read_results
from opproof.reports._results import encode_record

ARGS = ("-b", "numpy", "-o", "relu,tanh", "--level", "smoke", "-j", "1", "--quiet")
KEY = bytes(range(32))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    out = tmp_path_factory.mktemp("whole") / "out"
    command = [sys.executable, "-m", "opproof.harness", "run", *ARGS, "--out", str(out)]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0
    return out


@pytest.fixture
def run(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "run")


def test_every_record_has_its_mark(run):
    header, results = read_results(run)
    assert len((run / "results.marks").read_bytes().splitlines()) == len(results) == header.cases


def forge(folder, verdict="PASS"):
    """Append a record as a backend would that outlives its killed run; the real one goes."""
    header, results = read_results(folder)
    lines = map(encode_record, [*results[:-1], replace(results[-1], verdict=verdict, message="forged")])
    (folder / "results.jsonl").write_bytes(encode_record(header) + b"".join(lines))


def test_a_forged_record_is_made_again(run, whole, capsys):
    forge(run)
    status, _, err = opproof(capsys, "run", "--resume", run, "--quiet")
    aside = run / "results.unmarked.jsonl"
    assert err == (
        f"opproof: 1 of the {read_header(whole).cases} records in {run} have no mark of this user's opproof (another "
        f"user's opproof or an older one wrote them, or a backend did): they are made again, and {aside} keeps them.\n"
    )
    assert status == 0
    assert timeless(run) == timeless(whole)
    assert read_results(aside)[1][-1].message == "forged"


def test_a_mark_of_another_run_is_none(run, whole, capsys):
    """Of another header: its records are answers to another question, or of another day."""
    forge(run)
    other = run.parent / "other"
    other.mkdir()
    header, results = read_results(run)
    (other / "results.jsonl").write_bytes(
        encode_record(replace(header, started="2020-01-01T00:00:00+00:00")) + b"".join(map(encode_record, results))
    )
    mark(other)
    with (run / "results.marks").open("ab") as file:
        file.write((other / "results.marks").read_bytes())
    assert "1 of the" in opproof(capsys, "run", "--resume", run, "--quiet")[2]
    assert timeless(run) == timeless(whole)


@pytest.mark.parametrize("left", [None, b"", b"\xff\n" * 9])
def test_without_marks_all_are_made_again(run, whole, capsys, left):
    """A folder of another machine, or of an older opproof; what it held is kept."""
    (run / "results.marks").unlink()
    if left is not None:
        (run / "results.marks").write_bytes(left)
    before = (run / "results.jsonl").read_bytes()
    count = read_header(run).cases
    assert f"{count} of the {count} records" in opproof(capsys, "run", "--resume", run, "--quiet")[2]
    assert (run / "results.unmarked.jsonl").read_bytes() == before
    assert timeless(run) == timeless(whole)


def test_without_a_key_none_is_believed(run, whole, capsys, monkeypatch):
    def keyless():
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("opproof.harness.run.cache.store.ensure_key", keyless)
    status, _, err = opproof(capsys, "run", "--resume", run, "--quiet")
    assert status == 0
    assert "(there is no key in the folder of this user's caches): they are made again" in err
    assert not (run / "results.marks").exists()
    assert timeless(run) == timeless(whole)


def test_what_cannot_be_kept_is_not_thrown_away(run, capsys, monkeypatch):
    forge(run)
    before = (run / "results.jsonl").read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("opproof.harness.run.results.resume.keep_aside", full)
    status, _, err = opproof(capsys, "run", "--resume", run, "--quiet")
    assert (status, err) == (
        2,
        f"opproof: cannot keep what {run} holds without a mark: No space left on device; free some space there.\n",
    )
    assert (run / "results.jsonl").read_bytes() == before


def test_only_the_record_whose_line_it_is_has_a_mark(tmp_path, run):
    header, results = read_results(run)
    file = ResultsFile(tmp_path / "results.jsonl", header, results[:2], KEY)
    file.add(results[2])
    file.replace(replace(results[0], message="later"))
    file.close()
    _, there = read_results(tmp_path)
    assert select_signed(tmp_path, header, there, KEY) == there
    assert there[0].message == "later"
    assert select_signed(tmp_path, header, results, KEY) == results[1:3]
    assert select_signed(tmp_path, replace(header, cases=1), there, KEY) == []
    assert select_signed(tmp_path, header, there, bytes(32)) == []
    assert Signer(KEY, header).mark(b"a") != Signer(KEY, header).mark(b"b")
