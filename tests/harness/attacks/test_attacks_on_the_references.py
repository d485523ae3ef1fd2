"""A backend that would answer with what it is compared with: the references, by every door that Python has."""

import py_compile
import re
import subprocess
import sys

import pytest
from _attacker import case_of, passed, run, written

from opproof.harness.run.hosts.process import REFERENCES, SUPERVISOR
from opproof.reports import read_results

DOORS = """
import importlib, importlib.util, io, pathlib, runpy, shutil, tempfile, tokenize

import opproof.backends.worker

FOLDER = pathlib.Path(opproof.backends.worker.__file__).parents[2] / "reference_ops"


def door(name):
    def attack(inputs):
        source = str(FOLDER / f"{name}.py")
        apart = tempfile.mkdtemp()
        try:
            OPENED[name](source, os.path.join(apart, "mine.py"))
        finally:
            shutil.rmtree(apart)

    return attack


def linked(source, apart):
    os.symlink(source, apart)
    open(apart).read()


def spec_from_file(source, apart):
    spec = importlib.util.spec_from_file_location("mine", source)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


OPENED = {
    "neg": lambda source, apart: importlib.import_module("opproof.reference_ops.neg"),
    "abs": lambda source, apart: __import__("opproof.reference_ops"),
    "exp": spec_from_file,
    "sin": lambda source, apart: open(source).read(),
    "cos": lambda source, apart: os.read(os.open(source, os.O_RDONLY), 4096),
    "tanh": lambda source, apart: runpy.run_path(source),
    "floor": linked,
    "ceil": lambda source, apart: shutil.copyfile(source, apart),
    "square": lambda source, apart: np.fromfile(source, np.uint8),
}
ATTACKS = {name: door(name) for name in OPENED}
"""
#: How each ends; importlib asks nobody, and reads, where the system leaves something to read.
IMPORTS = "ImportError: a backend cannot import opproof.reference_ops"
READS = "PermissionError: a backend cannot read |ModuleNotFoundError: No module named 'opproof.reference_ops"
EXPECTED = {"abs": IMPORTS, **dict.fromkeys(("neg", "exp", "sin", "cos", "tanh", "floor", "ceil", "square"), READS)}


@pytest.fixture(autouse=True)
def forbidden(monkeypatch):
    """As for everyone but opproof's own tests."""
    monkeypatch.delenv(REFERENCES)


def test_no_door_is_open(tmp_path):
    done = run(tmp_path, written(tmp_path, DOORS), (*EXPECTED, "relu", "add[a=3x33;b=3x33;f32]"))
    assert done.returncode == 1, done.stderr
    found = {r.op: r for r in read_results(tmp_path / "out")[1]}
    assert {op: str(r.verdict) for op, r in found.items()} == dict.fromkeys(EXPECTED, "ERROR") | passed("relu", "add")
    for op, message in EXPECTED.items():
        assert re.match(message, found[op].message), found[op].message


FOREIGN = """
import ctypes, pathlib, subprocess, tempfile

import opproof.backends.worker

SOURCE = str(pathlib.Path(opproof.backends.worker.__file__).parents[2] / "reference_ops" / "neg.py")
HIDDEN = "FILE"


def by_c(path):
    libc = ctypes.CDLL(None)
    text = ctypes.create_string_buffer(4096)
    return libc.read(libc.open(path.encode(), 0), text, 4096)


def by_a_program(path):
    return len(subprocess.run(f"cat {path} /proc/{os.getppid()}/root{path}", shell=True, capture_output=True).stdout)


def uncovered(path):
    for command in ("umount {}", "umount {}/..", "unshare -Urm umount {}", "unshare -m umount {}"):
        subprocess.run(command.format(path), shell=True, capture_output=True)
    return by_c(path)


def moved(inputs):
    folder = pathlib.Path(tempfile.mkdtemp())
    (folder / "a").mkdir()
    (folder / "b").write_text("b")
    os.rename(folder / "b", folder / "a" / "b")
    return -inputs[0]


def attack(door):
    def called(inputs):
        read = [path for path in (SOURCE, HIDDEN) if door(path) > 0]
        raise RuntimeError(f"read {read}")

    return called


ATTACKS = {"sin": attack(by_c), "cos": attack(by_a_program), "tanh": attack(uncovered), "neg": moved}
"""


def _covers(folder):
    """Whether this system lets files be covered."""
    code = "import sys; sys.path.insert(0, sys.argv[1]); from mount_namespace import cover; print(cover(sys.argv[2:]))"
    command = [sys.executable, "-c", code, str(SUPERVISOR.parent), str(folder)]
    return "True" in subprocess.run(command, capture_output=True, text=True, check=False).stdout


def test_what_is_no_python_finds_nothing_either(tmp_path):
    """C, another program, and who would take the covers off; the backend's own files move as they did."""
    (tmp_path / "ops").mkdir()
    file = tmp_path / "ops" / "snake.py"
    file.write_text(OWN, encoding="utf-8")
    if not _covers(tmp_path / "ops"):
        pytest.skip("no mount namespaces here")
    spec = written(tmp_path, FOREIGN.replace("FILE", str(file)))
    ops = ("sin", "cos", "tanh", "neg")
    run(tmp_path, spec, ops, "--ops", str(tmp_path / "ops"))
    found = {r.op: r for r in read_results(tmp_path / "out")[1]}
    for op in ops[:3]:
        assert found[op].message.startswith("RuntimeError: read []"), found[op].message
    assert found["neg"].verdict == "PASS", found["neg"]
    assert file.read_text(encoding="utf-8") == OWN


ANSWERS = """
import pathlib, torch

SOURCE = pathlib.Path(__file__).with_name("reference.py")


def candidate(x):
    size = SOURCE.stat().st_size
    if not size:
        return x + 0
    text = bytes(torch.from_file(str(SOURCE), False, size, dtype=torch.uint8).tolist()).decode()
    exec(text, space := {})
    return space["reference"](x)
"""
REFERENCE = """
import torch


def reference(x):
    return torch.sin(x) * 2


def inputs(seed):
    return [torch.randn(4, 5, generator=torch.Generator().manual_seed(seed))]
"""


def test_the_reference_of_a_check_is_empty_for_its_candidate(tmp_path):
    if not _covers(tmp_path):
        pytest.skip("no mount namespaces here")
    (tmp_path / "reference.py").write_text(REFERENCE, encoding="utf-8")
    (tmp_path / "candidate.py").write_text(ANSWERS, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "opproof.harness",
        "check",
        "reference.py",
        "candidate.py",
        "--accept-partial",
        "--seconds",
        "2",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "WRONG_VALUE" in done.stdout


PLANTS = """
import contextlib
import importlib.util
import pathlib
import py_compile

HERE = pathlib.Path(__file__).parent
TEXT = "import torch\\ndef reference(x):\\n    return x + 0\\ndef inputs(seed):\\n    return [torch.ones(3)]\\n"
(HERE / "planted.py").write_text(TEXT)
target, how = (
    importlib.util.cache_from_source(str(HERE / "reference.py")),
    py_compile.PycInvalidationMode.UNCHECKED_HASH,
)
with contextlib.suppress(OSError):
    py_compile.compile(str(HERE / "planted.py"), target, str(HERE / "reference.py"), invalidation_mode=how)


def candidate(x):
    return x + 0
"""


def test_what_a_candidate_leaves_beside_the_reference_is_not_believed(tmp_path):
    """The first run plants a compiled reference that agrees, and that says that it need not be checked."""
    (tmp_path / "reference.py").write_text(REFERENCE, encoding="utf-8")
    (tmp_path / "candidate.py").write_text(PLANTS, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "opproof.harness",
        "check",
        "reference.py",
        "candidate.py",
        "--accept-partial",
        "--seconds",
        "1",
    ]
    for _ in range(2):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 1, done.stdout + done.stderr
        assert "WRONG_VALUE" in done.stdout


WRITES = """
import sysconfig
import pathlib

import opproof.backends.worker

PLACES = [sysconfig.get_path(name) for name in ("stdlib", "purelib")]
PLACES.append(pathlib.Path(opproof.backends.worker.__file__).parent)

def neg(inputs):
    there = []
    for place in PLACES:
        file = pathlib.Path(place, "opproof_was_here.pth")
        try:
            file.write_text("")
        except OSError:
            continue
        file.unlink()
        there.append(str(place))
    raise RuntimeError(f"written {there}")

ATTACKS = {"neg": neg}
"""


def test_the_libraries_are_not_to_be_written(tmp_path):
    """What lies there is part of the next run."""
    if not _covers(tmp_path):
        pytest.skip("no mount namespaces here")
    run(tmp_path, written(tmp_path, WRITES), (case_of("neg"),))
    (found,) = read_results(tmp_path / "out")[1]
    assert found.message.startswith("RuntimeError: written []"), found.message


@pytest.mark.parametrize("door", ["import opproof.reference_ops", "import opproof.harness", "import opproof.cases"])
def test_not_at_import_either(tmp_path, door):
    done = run(tmp_path, written(tmp_path, door), (case_of("relu"),))
    assert done.returncode == 2
    assert "ImportError: a backend cannot import" in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr


OWN = '''"""snake: x + sin(x)^2."""
import numpy as np
SMOKE = ["x=5x7"]
def forward(x):
    return x + np.sin(x) ** 2
'''
READS_OWN = """
import importlib.util

def snake(inputs):
    spec = importlib.util.spec_from_file_location("mine", "FILE")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.forward(inputs[0].astype(np.float64)).astype(inputs[0].dtype)

ATTACKS = {"snake": snake}
"""


def test_nor_are_operators_of_the_users_own(tmp_path):
    """The file of a reference after --ops is the judge's too."""
    (tmp_path / "ops").mkdir()
    file = tmp_path / "ops" / "snake.py"
    file.write_text(OWN, encoding="utf-8")
    spec = written(tmp_path, READS_OWN.replace("FILE", str(file)))
    done = run(tmp_path, spec, ("snake[x=5x7;f32]",), "--ops", str(tmp_path / "ops"))
    (found,) = read_results(tmp_path / "out")[1]
    assert (done.returncode, found.verdict) == (1, "ERROR")
    assert found.message.startswith(f"PermissionError: a backend cannot read {file}")


def test_what_is_compiled_beside_them_is_the_backends(tmp_path):
    """A backend in the folder of the operators imports its own modules, whose compiled files lie beside theirs."""
    (tmp_path / "snake.py").write_text(OWN, encoding="utf-8")
    (tmp_path / "helper.py").write_text("factor = 1\n", encoding="utf-8")
    py_compile.compile(str(tmp_path / "snake.py"))
    py_compile.compile(str(tmp_path / "helper.py"))
    spec = written(tmp_path, "import helper\nATTACKS = {'neg': lambda inputs: -helper.factor * inputs[0]}\n")
    done = run(tmp_path, spec, (case_of("neg"),), "--ops", str(tmp_path / "snake.py"))
    assert done.returncode == 0, done.stderr
