"""Wrong calls: one clear sentence on stderr, exit status 2, no traceback."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from _c_build import compiled, needs_cc

from opproof.core.dtypes import DTYPES
from opproof.core.errors import UsageError
from opproof.harness.__main__ import main
from opproof.harness.known_failures.findings import Extent
from opproof.harness.run.finish import finish
from opproof.reports import Header


def refused(capfd, *args):
    """What the command line says on stderr as it refuses `args`."""
    with pytest.raises(SystemExit) as caught:
        main([str(a) for a in args])
    out, err = capfd.readouterr()
    assert caught.value.code == 2, out + err
    assert out == ""
    assert err.startswith("opproof: ")
    assert err.endswith((".\n", "?\n"))
    assert err.count("\n") == 1
    return err.removeprefix("opproof: ").rstrip("\n")


KNOWN = ", ".join(DTYPES)
RUN = ("run", "-b", "numpy")
CASE = (*RUN, "--case")
CALLS = {
    ("run",): "no backend: give one with -b, such as -b torch, -b ./my_backend.py, -b ./libmine.so or -b exec:COMMAND.",
    (*RUN, "-o", "sofmax"): "unknown operator 'sofmax'; did you mean softmax, ",
    (*RUN, "-o", "qqq"): "unknown operator 'qqq'; `opproof list ops` prints them all.",
    (*RUN, "-o", "_arrays"): "unknown operator '_arrays'; ",
    (*RUN, "-o", "../relu"): "unknown operator '../relu'; ",
    (*RUN, "--dtype", "f32,f8"): f"unknown dtype 'f8': expected one of {KNOWN}; did you mean f8e4m3?",
    (*RUN, "-k", "add and"): "malformed -k 'add and': expected words joined by and, or, not, parentheses.",
    (*RUN, "-k", "add mul"): "malformed -k 'add mul': expected words joined by and, or, not, parentheses.",
    (*RUN, "-k", "add (mul)"): "malformed -k 'add (mul)': expected words joined by and, or, not, parentheses.",
    (*RUN, "-k", "()"): "malformed -k '()': expected words joined by and, or, not, parentheses.",
    (*RUN, "--ops", "none.py"): "no operator in none.py: give --ops a folder of operators' files, or one of them.",
    (*CASE, "relu"): "malformed case id 'relu': expected op[part;part;...], as in softmax[x=4x33;dim=-1;f32].",
    (*CASE, "relu[x=3,]"): "'relu[x=3,]' names no dtype: ",
    (*CASE, "rleu[x=3,;f32]"): "unknown operator 'rleu'; did you mean relu",
    (*CASE, "relu[y=3,;f32]"): "relu[y=3,;f32]: relu has no tensor 'y'; its tensors are: x.",
    (*CASE, "add[a=3,;f32]"): "add[a=3,;f32]: add has a tensor 'b', which is missing; its tensors are: a, b.",
    (*CASE, "relu[x=3,;dim=1;f32]"): "relu[x=3,;dim=1;f32]: relu has no parameter 'dim'; its parameters are: none.",
    (*CASE, "softmax[x=3x4;f32]"): "softmax[x=3x4;f32]: softmax needs its parameter 'dim'.",
    (*CASE, "softmax[x=3x4;dim=2;f32]"): "softmax[x=3x4;dim=2;f32]: softmax cannot be computed so (AxisError: ",
    (*CASE, "add[a=3,;b=4,;f32]"): "add[a=3,;b=4,;f32]: add cannot be computed so (ValueError: ",
    (*CASE, "relu[x=3,;f32;fill=wid]"): "unknown fill 'wid' in relu[x=3,;f32;fill=wid]: expected one of normal, ",
    (*CASE, "relu[x=3,;f32;layout=bent]"): "unknown layout 'bent' in relu[x=3,;f32;layout=bent]: expected one of ",
    (*CASE, "relu[x=3,;f32;needs=y]"): "relu[x=3,;f32;needs=y]: needs=y names no tensor of the case; there are x.",
    ("show", "relu[x=3,;f31]"): "malformed part 'f31' in 'relu[x=3,;f31]': expected name=value or one of f64, ",
    ("show", "argmax[x=3x5;dim=-1;f32]", "--mode", "gradient"): (
        "argmax[x=3x5;dim=-1;f32] has no gradient: give --mode forward, or none."
    ),
    ("show", "relu[x=3,;f32]", "--npz", "no/such/folder/a.npz"): "cannot write no/such/folder/a.npz: ",
    ("list", "cases", "-o", "sofmax"): "unknown operator 'sofmax'; did you mean softmax, ",
    ("report", "no_such_folder"): "cannot read no_such_folder: No such file or directory; `opproof run --out DIR` ",
    ("run", "--resume", "no_such_folder"): "cannot read no_such_folder: No such file or directory; ",
    (*RUN, "--known", "none.toml"): "cannot read the ledger none.toml: No such file or directory; ",
}


@pytest.mark.parametrize("args", CALLS, ids=" ".join)
def test_call(capfd, tmp_path, monkeypatch, args):
    monkeypatch.chdir(tmp_path)
    assert refused(capfd, *args).startswith(CALLS[args])
    assert list(tmp_path.iterdir()) == []  # nothing was begun


MEANT = {
    ("rn", "-b", "numpy"): "there is no command 'rn'; did you mean run?",
    (*RUN, "--level", "ful"): "'ful' is not one of 'smoke', 'standard', 'full', 'exhaustive'; did you mean full?",
    (*RUN, "--dtype", "fp32"): f"expected one of {KNOWN}; did you mean f32?",
    (*RUN, "--dtype", "half"): f"expected one of {KNOWN}; did you mean f16?",
    (*CASE, "relu[x=3;f32]"): "x is a tensor: expected its shape, such as x=4x33, or of one axis x=3, (a comma).",
    (*CASE, "relu[x=3,;f32;fil=wide]"): "relu has no parameter 'fil'; its parameters are: none; did you mean fill?",
    (*CASE, "relu[x=3,;f32;fill=wid]"): "; did you mean wide?",
    (*CASE, "relu[x=3,;f32;layout=transpose]"): "; did you mean transposed?",
    (*CASE, "relu[x=3,;bfloat16]"): "; did you mean bf16?",
}


@pytest.mark.parametrize("args", MEANT, ids=" ".join)
def test_what_was_meant_is_asked(capfd, tmp_path, monkeypatch, args):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as caught:
        main([*args])
    assert caught.value.code == 2
    assert capfd.readouterr().err.rstrip().endswith(MEANT[args])


FILES = {
    "def forward(op:\n": "could not be imported: SyntaxError at line 1: ",
    "import no_such_module\n": "could not be imported: ModuleNotFoundError: No module named 'no_such_module'; ",
    "raise SystemExit(3)\n": "could not be imported: SystemExit: 3; ",
    "1 / 0\n": "could not be imported: ZeroDivisionError: division by zero; ",
    "x = 1\n": "has no function forward(op, inputs, params); see opproof.backends.",
}


@pytest.mark.parametrize("text", FILES)
def test_backend_file(capfd, tmp_path, text):
    path = tmp_path / "mine.py"
    path.write_text(text, encoding="utf-8")
    said = refused(capfd, "run", "-b", path, "-o", "relu", "--level", "smoke", "--out", tmp_path / "out")
    assert said.startswith(f"backend file {path} {FILES[text]}")


def test_backends_that_are_not_there(capfd, tmp_path):
    end = ("-o", "relu", "--level", "smoke", "--out", tmp_path / "out")
    said = refused(capfd, "run", "-b", "nmpy", *end)
    assert said.startswith("unknown backend 'nmpy': expected a name, ./file.py")
    assert said.endswith("did you mean numpy?")
    assert refused(capfd, "run", "-b", "./none.py", *end).startswith("backend file none.py does not exist; ")
    assert refused(capfd, "run", "-b", "./none.so", *end).startswith("there is no file none.so: expected a shared ")


@needs_cc
def test_libraries(capfd, tmp_path):
    end = ("-o", "relu", "--level", "smoke", "--out", tmp_path / "out")
    bare = compiled(tmp_path, "int something(void) { return 1; }\n", "libbare.so")
    assert refused(capfd, "run", "-b", bare, *end).startswith(f"{bare} exports no opproof_abi_version, so it is no ")
    other = "int32_t opproof_abi_version(void) { return 7; }\n"
    newer = compiled(tmp_path, other, "libnewer.so")
    assert refused(capfd, "run", "-b", newer, *end).startswith(f"{newer} was built for version 7 of opproof's C ")


def test_out_that_cannot_be_written(capfd, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    out = tmp_path / "file" / "out"
    said = refused(capfd, *RUN, "-o", "relu", "--level", "smoke", "--out", out)
    assert said == f"cannot write to {out}: Not a directory; give another folder with --out DIR."


HEADER = b'{"opproof":"0.1.0","schema":1}\n'
RECORD = b'{"case":"relu[x=3,;f32]","op":"relu","dtype":"f32","backend":"b","mode":"forward","verdict":"PASS"}\n'
CORRUPT = {
    b"": "line 1: expected a run header, got b'' (",
    b"not json\n": "line 1: expected a run header, got b'not json' (",
    RECORD: 'line 1: expected a run header, got b\'{"case":',
    b'{"opproof":"9","schema":99}\n': "has schema version 99, this opproof reads ",
    HEADER + b"{}\n" + RECORD: "line 2: not a result record (",
    HEADER + RECORD + b'{"case": 3\n' + RECORD: "line 3: not a result record (",
    HEADER + b"\xff\xfe\n" + RECORD: "line 2: not a result record (",
}


@pytest.mark.parametrize("content", CORRUPT)
def test_corrupt_results(capfd, tmp_path, content):
    (tmp_path / "results.jsonl").write_bytes(content)
    said = refused(capfd, "report", tmp_path)
    assert said.startswith(f"{tmp_path / 'results.jsonl'}")
    assert CORRUPT[content] in said


def test_resuming_what_was_no_run(capfd, tmp_path):
    (tmp_path / "results.jsonl").write_bytes(HEADER)
    said = refused(capfd, "run", "--resume", tmp_path)
    assert said == f"{tmp_path} does not say what was asked of its run; give the folder of an `opproof run`."


def test_reports_that_cannot_be_written(capfd, tmp_path):
    (tmp_path / "results.jsonl").write_bytes(HEADER + RECORD)
    said = refused(capfd, "report", tmp_path, "--html", tmp_path / "results.jsonl" / "a.html")
    assert "a.html" in said


def test_from_a_shell(tmp_path):
    """The same through `python -m opproof.harness`: nothing else is printed."""
    command = [sys.executable, "-m", "opproof.harness", "run", "-b", "numpy", "-o", "sofmax"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("opproof: unknown operator 'sofmax'; did you mean softmax")
    assert done.stderr.count("\n") == 1


def test_a_folder_in_the_place_of_a_report_is_moved_aside(capfd, tmp_path):
    """It may be a backend's doing; what was measured stays, and the report is written."""
    out = tmp_path / "out"
    (out / "report.html").mkdir(parents=True)
    (out / "results.jsonl").write_bytes(HEADER)
    finish(out, Header(opproof="1"), [], [], quiet=True, extent=Extent.PART, complaints=["Beware."])
    assert capfd.readouterr().out.startswith("No case ran, so nothing is known about the backend.\nBeware.\n")
    assert (out / "report.html").is_file()
    assert [path.is_dir() for path in out.glob("report.html.*.aside")] == [True]
    assert (out / "results.jsonl").read_bytes() == HEADER


def test_a_folder_that_cannot_be_reported_in(monkeypatch, capfd, tmp_path):
    """What was measured stays, and the sentence says how to report it."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "results.jsonl").write_bytes(HEADER)

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(UsageError) as caught:
        finish(out, Header(opproof="1"), [], [], quiet=True, extent=Extent.PART, complaints=["Beware."])
    assert capfd.readouterr().out == "No case ran, so nothing is known about the backend.\nBeware.\n"
    said = str(caught.value)
    assert said.startswith(f"cannot write {out / 'report.html'}: No space left on device; `opproof report ")
    assert (out / "results.jsonl").read_bytes() == HEADER


@pytest.mark.parametrize(
    "args",
    [
        ["rum"],
        ["run", "--bogus"],
        ["run", "-b", "numpy", "-j", "0"],
        *(["run", "-b", "numpy", "--timeout", text] for text in ("nan", "-nan", "inf", "-inf", "-1", "0", "1e7", "x")),
        *(["run", "-b", "numpy", "--memory", text] for text in ("nan", "inf", "-1", "0", "63", "1e3", str(2**31))),
        *(["run", "-b", "numpy", "--seed", text] for text in ("Random", "-1", "1.5", "nan", "")),
        ["shrink", "relu[x=3,;f32]", "-b", "numpy", "--timeout", "nan"],
        ["check-backend", "exec:true", "--timeout", "nan"],
        ["list", "all"],
        ["show"],
    ],
    ids=" ".join,
)
def test_click_s_own_errors_exit_with_2(capfd, args, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as caught:
        main(args)
    assert caught.value.code == 2
    assert "Error: " in capfd.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_windows_is_refused_in_one_sentence(monkeypatch, capsys):
    from opproof.harness import __main__ as program

    monkeypatch.setattr(program.sys, "platform", "win32")
    with pytest.raises(SystemExit) as caught:
        program.main(["--help"])
    assert caught.value.code == 2
    assert capsys.readouterr().err == (
        "opproof: it guards memory as POSIX systems do, and Windows has none of that: use WSL.\n"
    )


def test_on_macos_a_run_leaves_out_what_only_linux_has(tmp_path):
    """The program believes to be on macOS: what it asks of Linux's kernel it leaves out. Its hosts know better."""
    program = (
        "import ctypes, multiprocessing, subprocess, sys\n"
        "class Without:\n"
        "    def __getattr__(self, name): raise AssertionError('prctl was called')\n"
        "sys.platform = 'darwin'\n"
        "ctypes.CDLL = lambda name: Without()\n"
        "from opproof.harness.__main__ import main\n"
        "main(['run', '-b', 'numpy', '-o', 'relu', '--level', 'smoke', '--dtype', 'f32', '-j', '1', '--out', 'out'])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "numpy passes 2 of 2 records" in done.stdout
