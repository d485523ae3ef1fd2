"""A backend that would answer with what it is compared with: the references, by every door that Python has."""

import pytest
from _attacker import case_of, passed, run, written

from opproof.harness.run.hosts.process import REFERENCES
from opproof.reports import read_results

DOORS = """
import importlib, importlib.util, io, pathlib, runpy, shutil, tempfile, tokenize

import opproof.backends.host

FOLDER = pathlib.Path(opproof.backends.host.__file__).parents[2] / "reference_ops"


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
#: How each ends; importlib asks nobody, and reads.
IMPORTS, READS = "ImportError: a backend cannot import opproof.reference_ops", "PermissionError: a backend cannot read "
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
        assert found[op].message.startswith(message), found[op].message


@pytest.mark.parametrize("door", ["import opproof.reference_ops", "import opproof.harness", "import opproof.cases"])
def test_not_at_import_either(tmp_path, door):
    done = run(tmp_path, written(tmp_path, door), (case_of("relu"),))
    assert done.returncode == 2
    assert "ImportError: a backend cannot import" in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
