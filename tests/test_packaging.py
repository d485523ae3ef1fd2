"""The installed packages hold every file of the tree and nothing else (in tox, what is installed is the wheel)."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("backends", "cases", "harness", "reference_ops", "reports", "core")


def files(folder):
    found = (p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    return {str(p.relative_to(folder)) for p in found}


@pytest.mark.parametrize("name", FOLDERS)
def test_every_file_is_installed(name):
    installed = Path(importlib.import_module(f"opproof.{name}").__file__).parent
    assert files(installed) == files(ROOT / name)


def test_a_missing_file_is_noticed(tmp_path):
    (tmp_path / "opproof.h").write_text("", encoding="utf-8")
    assert files(tmp_path) != files(ROOT / "backends")
    assert "opproof.h" in files(ROOT / "backends")
    assert "torch/known.toml" in files(ROOT / "backends")
