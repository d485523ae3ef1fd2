"""opproof precision: users' backends of every kind, what it prints, writes and exits with."""

import shlex
import sys

import pytest
from _c_build import compiled, needs_cc
from _rounding_backend import C_DECLARES, C_SQUARE
from _runs import completed

from opproof.backends import precision

COMPOSITE = """
import numpy as np

name = "composite"

def forward(op, inputs, params):
    if op != "tanhshrink":
        raise NotImplementedError(f"there is no {op} here")
    x, = inputs
    stored = np.tanh(x.astype(np.float64)).astype(x.dtype).astype(np.float64)
    return (x.astype(np.float64) - stored).astype(x.dtype)

def compute(op, dtype, mode):
    return DECLARED
"""


def opproof(*arguments, cwd):
    return completed(*arguments, cwd=cwd)


def measured(folder, *options, declared=None, backend="composite.py", op="tanhshrink"):
    (folder / "composite.py").write_text(COMPOSITE.replace("DECLARED", repr(declared)), encoding="utf-8")
    return opproof("precision", "-b", str(backend), "-o", op, "--seeds", "1", "--level", "smoke", *options, cwd=folder)


def test_a_declaration_that_is_missing_is_told_and_written(tmp_path):
    done = measured(tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert "needed, not declared" in done.stdout
    written = measured(tmp_path, "--write", "--out", "mine.toml")
    assert written.returncode == 0
    (entry,) = precision.read(tmp_path / "mine.toml")
    assert (entry.op, entry.mode, entry.dtypes, entry.compute) == ("tanhshrink", "forward", ("f16", "bf16"), "storage")
    assert entry.units_with < 2 < entry.units_without


def test_what_is_declared_and_needed_is_right(tmp_path):
    done = measured(tmp_path, "--dtype", "f16,bf16", declared="storage")
    assert (done.returncode, done.stderr) == (0, "")
    assert "tanhshrink" in done.stdout
    assert "not" not in done.stdout


def test_what_is_declared_in_vain_is_told(tmp_path):
    done = measured(tmp_path, "--dtype", "f64", declared="f32")
    assert done.returncode == 1
    assert "declared, not needed" in done.stdout


def test_nothing_to_judge(tmp_path):
    done = measured(tmp_path, op="relu")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "opproof: no record was judged, so there is nothing to measure.\n"


def test_a_users_backend_has_no_file_of_its_own(tmp_path):
    done = measured(tmp_path, "--write")
    assert done.returncode == 2
    assert "composite.py is no adapter of opproof's, so --write needs the file" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_bad_file_is_not_written_over(tmp_path):
    (tmp_path / "bad.toml").write_text("[[known]]\n", encoding="utf-8")
    done = measured(tmp_path, "--write", "--out", "bad.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert "unknown field `known`" in done.stderr
    assert (tmp_path / "bad.toml").read_text(encoding="utf-8") == "[[known]]\n"


def test_a_command(tmp_path):
    command = shlex.join([sys.executable, "-m", "opproof.backends.worker", "./composite.py"])
    done = measured(tmp_path, "--dtype", "bf16", backend=f"exec:{command}", declared="storage")
    assert (done.returncode, done.stderr) == (0, "")
    assert "needed" in done.stdout


@needs_cc
@pytest.mark.parametrize(("declares", "status", "said"), [("", 1, "needed, not declared"), ("truncate", 0, "needed")])
def test_a_library(tmp_path, declares, status, said):
    library = compiled(tmp_path, C_SQUARE.replace("ROUND", "0") + (C_DECLARES % declares if declares else ""))
    options = ["-o", "square", "--dtype", "bf16", "--seeds", "1"]
    done = opproof("precision", "-b", str(library), *options, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (status, "")
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("square")]
    assert "truncate" in line
    assert line.endswith(said)
