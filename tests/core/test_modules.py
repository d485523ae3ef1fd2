"""Modules of files are made of their source, whatever lies beside it; modules from a folder too."""

import importlib
import importlib.util
import py_compile
import sys

import pytest

from opproof.core.system import import_from, spec_of


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "path_hooks", [*sys.path_hooks])
    monkeypatch.setattr(sys, "modules", {**sys.modules})


def planted(folder, name):
    """A file that says `right`, and beside it a compiled one that says `wrong` and that it need not be checked."""
    file = folder / f"{name}.py"
    file.write_text("said = 'wrong'\n", encoding="utf-8")
    py_compile.compile(str(file), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    file.write_text("said = 'right'\n", encoding="utf-8")
    return file


def test_a_file(tmp_path):
    spec = spec_of("planted_file", planted(tmp_path, "file"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.said == "right"


def test_modules_from_a_folder_and_below(tmp_path):
    (tmp_path / "planted_package").mkdir()
    planted(tmp_path, "planted_module")
    planted(tmp_path / "planted_package", "__init__")
    planted(tmp_path / "planted_package", "inner")
    import_from(tmp_path)
    for name in ("planted_module", "planted_package", "planted_package.inner"):
        assert importlib.import_module(name).said == "right"


def test_other_folders_are_as_they_were(tmp_path):
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    planted(tmp_path / "other", "planted_elsewhere")
    import_from(tmp_path / "one")
    sys.path.insert(0, str(tmp_path / "other"))
    assert importlib.import_module("planted_elsewhere").said == "wrong"


def test_what_is_no_file_of_python(tmp_path):
    assert spec_of("text", tmp_path / "text.txt") is None
