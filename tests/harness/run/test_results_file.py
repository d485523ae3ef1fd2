"""results.jsonl while a run writes it: nothing lost, nothing twice, whatever else writes to it or deletes it."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
import report_samples as samples
from _runs import opproof

from opproof.harness.run.results.file import open_results_file
from opproof.reports import ResultsError, read_results
from opproof.reports._results import encode_record

HEADER = samples.header(9)
RECORDS = [samples.result(f"relu[x={n},;f32]", "forward", "mine") for n in range(1, 10)]
WRONG = replace(RECORDS[1], verdict="CRASH", message="it had written out of bounds, and died later")


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The folder for what has no other place."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_records_are_in_the_file_as_they_end(tmp_path):
    with open_results_file(tmp_path, HEADER) as file:
        for count, record in enumerate(RECORDS, start=1):
            assert file.add(record) is None
            assert read_results(tmp_path) == (HEADER, RECORDS[:count])
        file.verify()
    assert file.tampering == ""
    assert [p.name for p in tmp_path.iterdir()] == ["results.jsonl"]


def test_a_record_that_comes_again_replaces_the_first(tmp_path):
    with open_results_file(tmp_path, HEADER) as file:
        for record in RECORDS[:4]:
            file.add(record)
        assert file.add(WRONG) == RECORDS[1]
        expected = [RECORDS[0], WRONG, *RECORDS[2:4]]
        assert file.results == expected
        assert read_results(tmp_path)[1] == expected
        file.replace(RECORDS[1])
        file.add(RECORDS[4])
        file.verify()
    assert read_results(tmp_path)[1] == RECORDS[:5]
    assert file.tampering == ""


def test_the_readers_of_the_file_never_see_it_half_written(tmp_path):
    """A replacement is a new file that is moved to its place."""
    with open_results_file(tmp_path, HEADER) as file:
        file.add(RECORDS[0])
        with (tmp_path / "results.jsonl").open("rb") as reader:
            file.replace(replace(RECORDS[0], verdict="CRASH"))
            assert reader.read() == encode_record(HEADER) + encode_record(RECORDS[0])


def test_the_reports_of_an_earlier_run_go(tmp_path):
    for name in ("report.html", "report.md", "changes.md"):
        (tmp_path / name).write_text("of other records", encoding="utf-8")
    with open_results_file(tmp_path, HEADER, RECORDS[:2]):
        assert sorted(p.name for p in tmp_path.iterdir()) == ["changes.md", "results.jsonl"]


def edit(path):
    path.write_bytes(path.read_bytes().replace(b"PASS", b"FAIL"))  # as many bytes


def truncate(path):
    os.truncate(path, 300)


def extend(path):
    with path.open("ab") as file:
        file.write(encode_record(RECORDS[8]))


def swap(path):
    copy = path.with_name("copy")
    copy.write_bytes(path.read_bytes().replace(b"PASS", b"CRASH"))
    copy.replace(path)


def link(path):
    path.unlink()
    path.symlink_to("/dev/null")


DEEDS = {
    edit: "changed",
    truncate: "cut short",
    extend: "changed",
    swap: "changed",
    link: "removed",
    Path.unlink: "removed",
}


@pytest.mark.parametrize("deed", DEEDS, ids=lambda d: d.__name__)
@pytest.mark.parametrize("late", [False, True])
def test_what_something_else_did_to_the_file_is_undone_and_said(tmp_path, deed, late):
    """`late`: after the last record."""
    with open_results_file(tmp_path, HEADER) as file:
        for record in RECORDS[:5]:
            file.add(record)
        deed(file.path)
        if not late:
            file.add(RECORDS[5])
            if deed is not edit:  # seen at the end
                assert read_results(tmp_path)[1] == RECORDS[:6]
        file.verify()
    assert read_results(tmp_path) == (HEADER, RECORDS[: 5 if late else 6])
    assert not file.path.is_symlink()
    assert f"{file.path} was {DEEDS[deed]} by something else during the run" in file.tampering


def test_a_file_that_was_touched_or_copied_back_is_no_matter(tmp_path):
    with open_results_file(tmp_path, HEADER) as file:
        file.add(RECORDS[0])
        os.utime(file.path)
        shutil.copy(file.path, tmp_path / "copy")
        (tmp_path / "copy").replace(file.path)
        file.add(RECORDS[1])
        file.verify()
    assert read_results(tmp_path)[1] == RECORDS[:2]
    assert file.tampering == ""


def test_an_interruption_within_a_write_is_not_blamed_on_others(tmp_path, monkeypatch):
    def interrupted(*args):
        count = write(*args)
        monkeypatch.undo()
        raise KeyboardInterrupt(count)

    write = os.write
    with contextlib.suppress(KeyboardInterrupt), open_results_file(tmp_path, HEADER) as file:
        file.add(RECORDS[0])
        monkeypatch.setattr(os, "write", interrupted)
        file.add(RECORDS[1])
    assert file.tampering == ""
    assert read_results(tmp_path)[1] == RECORDS[:2]


def test_tampering_is_said_also_where_the_run_is_interrupted(tmp_path, capsys):
    with contextlib.suppress(KeyboardInterrupt), open_results_file(tmp_path, HEADER) as file:
        file.add(RECORDS[0])
        truncate(file.path)
        raise KeyboardInterrupt
    assert "was cut short by something else" in capsys.readouterr().err
    assert read_results(tmp_path)[1] == RECORDS[:1]


def test_text_that_is_no_text(tmp_path):
    """A lone surrogate, which a backend can put into a message and into its version, costs no record."""
    bad = replace(RECORDS[0], verdict="ERROR", message="bad \udc80", diagnosis="\ud800")
    header = replace(HEADER, backends=[{"name": "b\udcff"}])
    with open_results_file(tmp_path, header) as file:
        file.add(bad)
        file.add(RECORDS[1])
        file.verify()
    again, results = read_results(tmp_path)
    assert again.backends == [{"name": "b\\udcff"}]
    assert results == file.results
    assert results[0].message == "bad \\udc80"


def test_a_folder_that_was_deleted(tmp_path, temporary):
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(ResultsError) as caught, open_results_file(out, HEADER) as file:  # noqa: PT012
        file.add(RECORDS[0])
        shutil.rmtree(out)
        file.add(RECORDS[1])
    (rescued,) = temporary.iterdir()
    said = str(caught.value)
    assert said.startswith(f"cannot write {out / 'results.jsonl'}: No such file or directory; ")
    assert said.endswith(f"so far, 2, are in {rescued}, and `opproof run --resume {rescued}` goes on there.")
    assert read_results(rescued) == (HEADER, RECORDS[:2])


def test_a_folder_that_was_deleted_and_no_other_place(tmp_path, temporary):
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(ResultsError) as caught, open_results_file(out, HEADER) as file:  # noqa: PT012
        file.add(RECORDS[0])
        shutil.rmtree(out)
        temporary.rmdir()
        file.add(RECORDS[1])
    assert "nor anything in a temporary folder: No such file or directory; " in str(caught.value)
    assert str(caught.value).endswith("the file has 0 of the 2 records so far.")


FILL = """
import resource, sys, tempfile
from pathlib import Path
sys.path[:0] = {tests!r}
from test_results_file import HEADER, RECORDS
from opproof.harness.run.results.file import open_results_file
from opproof.reports import ResultsError
from dataclasses import replace
if {limit}:
    resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
try:
    with open_results_file(Path({out!r}), HEADER) as file:
        for n in range(1000):
            file.add(replace(RECORDS[0], case=f"relu[x={{n}},;f32]", message="x" * 500))
except ResultsError as error:
    print(len(file.results), error)
"""


def filled(out, limit=0):
    """How many records were measured when no more fitted, and what was said."""
    script = FILL.format(tests=[str(Path(__file__).parent), str(Path(__file__).parents[2])], out=str(out), limit=limit)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    count, _, said = done.stdout.partition(" ")
    return int(count), said.strip()


def test_no_room_anywhere(tmp_path):
    """A limit on the size of every file: what fitted stays, and the sentence counts it."""
    count, said = filled(tmp_path, limit=20_000)
    kept = read_results(tmp_path)[1]
    assert 0 < len(kept) == count - 1
    assert (tmp_path / "results.jsonl").read_bytes().endswith(b"}\n")
    assert said.startswith(f"cannot write {tmp_path / 'results.jsonl'}: File too large, nor in ")
    assert said.endswith(f"File too large; the file has {len(kept)} of the {count} records so far.")


@contextlib.contextmanager
def small_disk(folder):
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], check=True, capture_output=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def can_mount():
    """Whether this process may mount, which a container's root may not."""
    try:
        with tempfile.TemporaryDirectory() as folder, small_disk(Path(folder) / "disk"):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False


@pytest.mark.parametrize("folder", ["disk"] if can_mount() else [])
def test_a_disk_that_fills_up(tmp_path, folder):
    with small_disk(tmp_path / folder) as out:
        count, said = filled(out)
        kept = read_results(out)[1]
    assert said.startswith(
        f"cannot write {out / 'results.jsonl'}: No space left on device; the records so far, {count},"
    )
    rescued = Path(said.partition(" are in ")[2].partition(",")[0])
    assert 0 < len(kept) == count - 1
    assert len(read_results(rescued)[1]) == count
    shutil.rmtree(rescued)


BACKEND = """
import os, shutil
from pathlib import Path
import numpy as np
OUT, DONE = Path({out!r}), Path({out!r} + ".done")
FILE = OUT / "results.jsonl"

def forward(op, inputs, params):
    (x,) = inputs
    if not DONE.exists() and FILE.read_bytes().count(b"\\n") > 2:
        DONE.touch()
        {deed}
    return {answer}
"""


def run_of(capsys, out, deed, answer="np.maximum(x, 0)"):
    """Exit status and output of a run of a backend that does `deed` once, after a few records."""
    path = out.with_name("mine.py")
    path.write_text(BACKEND.format(out=str(out), deed=deed, answer=answer), encoding="utf-8")
    call = ("run", "-b", path, "-o", "relu,neg", "--level", "smoke", "--mode", "forward", "-j1", "--quiet")
    ended = opproof(capsys, *call, "--out", out)
    assert out.with_name(f"{out.name}.done").exists()
    return ended


@pytest.mark.parametrize("lie", ["'PASS'", "'PASS'       "])  # the second in as many bytes
def test_a_backend_that_writes_to_the_results(tmp_path, capsys, lie):
    deed = f"""FILE.write_bytes(FILE.read_bytes().replace(b'"WRONG_VALUE"', b{lie!r}.replace(b"'", b'"')))"""
    status, shown, err = run_of(capsys, tmp_path / "out", deed, "x + 1")
    assert (status, err) == (1, "")
    text = r"results\.jsonl was (changed|cut short) by something else during the run, perhaps by the backend; "
    assert len(re.findall(text, shown)) == 1  # short where the run looks between its being emptied and written
    header, results = read_results(tmp_path / "out")
    assert len(results) == header.cases > 4
    assert {r.verdict for r in results} == {"WRONG_VALUE"}


def test_tampering_alone_fails_a_run(tmp_path, capsys):
    answer = "np.maximum(x, 0) if op == 'relu' else -x"
    status, shown, _ = run_of(capsys, tmp_path / "out", "FILE.write_bytes(b'')", answer)
    header, results = read_results(tmp_path / "out")
    assert {r.verdict for r in results} == {"PASS"}
    assert len(results) == header.cases
    assert "was cut short by something else" in shown
    assert status == 1


#: What a backend puts where the run is about to write, and the exit status of a run that is right otherwise.
OBSTACLES = {
    "FILE.unlink(); FILE.mkdir()": 1,
    "FILE.unlink(); os.mkfifo(FILE)": 1,
    "FILE.unlink(); FILE.symlink_to('/dev/full')": 1,
    "FILE.with_name('results.jsonl.part').mkdir(); FILE.write_bytes(b'')": 1,
    "os.mkfifo(OUT / 'report.html')": 0,
    "(OUT / 'report.md').mkdir()": 0,
}


@pytest.mark.parametrize("deed", OBSTACLES)
def test_a_backend_that_is_in_the_way(tmp_path, capsys, deed):
    """What is no file is moved aside: no record is lost, and nothing waits for a pipe to be read."""
    answer = "np.maximum(x, 0) if op == 'relu' else -x"
    status, shown, err = run_of(capsys, tmp_path / "out", f"import os; {deed}", answer)
    assert (status, err) == (OBSTACLES[deed], "")
    header, results = read_results(tmp_path / "out")
    assert len(results) == header.cases > 4
    assert (tmp_path / "out" / "report.html").is_file()
    assert ("by something else" in shown) == (status == 1)


def test_a_backend_that_deletes_the_folder(tmp_path, capsys, temporary):
    out = tmp_path / "out"
    status, shown, err = run_of(capsys, out, "shutil.rmtree(OUT)")
    assert (status, shown, err.count("\n")) == (2, "", 1)
    assert not out.exists()
    assert err.startswith(f"opproof: cannot write {out / 'results.jsonl'}: No such file or directory; the records so ")
    (rescued,) = temporary.iterdir()
    assert len(read_results(rescued)[1]) >= 3
