"""A backend to begin with passes at once, and its test finds it broken when it is."""

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from opproof.core.errors import UsageError
from opproof.harness.__main__ import cli

#: A change to the backend that its test has to find.
BREAK = {
    "c": ("backend.c", "? *at(cotangents[0], i) : 0", "? 1 : 0"),
    "python": ("backend.py", "np.where(x > 0, g, 0)", "np.where(x > 0, 1, 0)"),
    "exec": ("backend.py", "[b if a > 0 else 0.0", "[1.0 if a > 0 else 0.0"),
    "exec-c": ("backend.c", "g ? g->data[i] :", "g ? 1 :"),
    "triton": ("backend.py", "tl.where(value > 0, slope, 0.0)", "tl.where(value > 0, 1.0, 0.0)"),
}


def call(*args):
    done = CliRunner().invoke(cli, list(map(str, args)), standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    return done.output


def judged(folder):
    """The exit status of the folder's own test, and what it printed."""
    beside = str(Path(sys.executable).parent)
    environment = {**os.environ, "PATH": f"{beside}{os.pathsep}{os.environ['PATH']}"}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # those of opproof's own tests are slow to import
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "test_backend.py"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("kind", BREAK)
def test_a_skeleton_passes_and_is_found_broken(kind, tmp_path):
    if kind in ("c", "exec-c") and not (shutil.which("make") and shutil.which("cc")):
        pytest.skip("no C compiler, or no make")
    if kind == "triton":
        pytest.importorskip("torch")
        pytest.importorskip("triton")
    folder = tmp_path / "my backend"
    assert f"cd '{folder}' && " in call("init", kind, folder)
    status, text = judged(folder)
    assert status == 0, text
    name, right, wrong = BREAK[kind]
    source = (folder / name).read_text(encoding="utf-8")
    assert source.count(right) == 1
    (folder / name).write_text(source.replace(right, wrong), encoding="utf-8")
    status, text = judged(folder)
    assert status == 1
    assert "WRONG_GRADIENT" in text


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "backend.py").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match=r"has backend.py already: give another folder; nothing was written\."):
        call("init", "python", tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["backend.py"]
    with pytest.raises(UsageError, match="cannot write into .*: Not a directory"):
        call("init", "python", tmp_path / "backend.py" / "x")


def test_a_kind_that_is_none_is_told_so(tmp_path):
    with pytest.raises(Exception, match="pyton.*did you mean python"):
        call("init", "pyton", tmp_path)


def test_an_operator_to_begin_with_has_a_gradient_and_rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("reference_ops", "cases"):
        (tmp_path / folder).mkdir()
    assert "opproof selfcheck -o soft_clip" in call("init", "op", "soft_clip")
    made = {f: runpy.run_path(str(tmp_path / f / "soft_clip.py")) for f in ("reference_ops", "cases")}
    op, x, step = made["reference_ops"], np.linspace(-3, 3, 12), 1e-6
    assert op["__doc__"].startswith("soft_clip: ")
    slope = (op["forward"](x + step) - op["forward"](x - step)) / (2 * step)
    assert np.allclose(op["vjp"](np.ones(12), op["forward"](x), x), slope)
    assert "fill=special" in " ".join(made["cases"]["STANDARD"])
    with pytest.raises(UsageError, match=r"has soft_clip.py already"):
        call("init", "op", "soft_clip")


@pytest.mark.parametrize(
    ("name", "said"), [("Soft", "is no name of an operator"), ("_a", "is no name"), ("soft", "no reference_ops here")]
)
def test_an_operator_that_cannot_be_written_is_told_so(name, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=said):
        call("init", "op", name)
    assert not list(tmp_path.iterdir())


def test_the_header_is_where_a_compiler_finds_it():
    path = Path(call("header").strip())
    assert path.name == "opproof.h"
    assert "OPPROOF_ABI_VERSION" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_a_script_of_the_shell(shell):
    done = CliRunner().invoke(cli, env={"_OPPROOF_COMPLETE": f"{shell}_source"}, prog_name="opproof")
    assert done.exit_code == 0
    script = done.output
    assert f"_OPPROOF_COMPLETE={shell}_complete" in script
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)


@pytest.mark.parametrize(
    ("words", "among"),
    [
        (["ru"], {"run"}),
        (["run", "-b", "tor"], {"torch"}),
        (["run", "-o", "relu,softm"], {"relu,softmax", "relu,softmax_ext"}),
        (["run", "--dtype", "f32,bf"], {"f32,bf16"}),
        (["run", "--level", "sm"], {"smoke"}),
    ],
)
def test_words_are_completed(words, among):
    environment = {
        **os.environ,
        "_OPPROOF_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(["opproof", *words]),
        "COMP_CWORD": str(len(words)),
    }
    command = [sys.executable, "-m", "opproof.harness"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    found = {row.partition(",")[2] for row in done.stdout.splitlines()}
    assert among <= found, done.stderr
