"""Results files for tests: write a made-up run, call the command line in this process."""

import contextlib
import io
import subprocess
from dataclasses import replace

import report_samples as samples

from opproof.harness.__main__ import main
from opproof.harness.run.cache.store import ensure_key
from opproof.harness.run.results.file import marks_of
from opproof.reports import read_results, write_line
from opproof.reports._results import encode_record

CASE = "softmax[x=4x33;dim=-1;f32]"
SELECTION = {"level": "standard", "seed": 0, "shard": ""}


def write_run(folder, results, **changes):
    """A results.jsonl in `folder` with `results`; `changes` are fields of the header."""
    folder.mkdir(parents=True, exist_ok=True)
    header = replace(samples.header(len(results)), options={"backends": ["torch"], "selection": SELECTION})
    with (folder / "results.jsonl").open("wb") as file:
        write_line(file, replace(header, **changes))
        for result in results:
            write_line(file, result)
    return folder


def mark(folder):
    """Mark the records in `folder` as this user's opproof does that wrote them."""
    header, results = read_results(folder)
    marks = marks_of(folder / "results.jsonl", header, ensure_key())
    marks.rewrite(map(encode_record, results))
    marks.close()


def opproof(capsys, *args):
    """Exit status, stdout and stderr of `opproof args...`."""
    try:
        main([str(a) for a in args])
    except SystemExit as end:
        said = capsys.readouterr()
        return end.code, said.out, said.err
    raise AssertionError("main always exits")


def completed(*args, cwd):
    """`opproof args...` in this process and the folder `cwd`, as subprocess.run tells it: half a second less each."""
    out, err, status = io.StringIO(), io.StringIO(), None
    with contextlib.chdir(cwd), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main([str(a) for a in args])
        except SystemExit as end:
            status = end.code
    return subprocess.CompletedProcess(args, status or 0, out.getvalue(), err.getvalue())


def timeless(out):
    """Every record, in a fixed order, without its time."""
    return sorted((replace(r, seconds=0, judging=0) for r in read_results(out)[1]), key=lambda r: (r.case, r.mode))
