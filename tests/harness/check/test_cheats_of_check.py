"""Candidates in a process of their own cannot reach the judge, and what they leave behind ends with them."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

import opproof

linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are told apart by /proc")


@pytest.fixture(scope="module")
def cheats(tmp_path_factory):
    file = shutil.copy(Path(__file__).with_name("_cheats.py"), tmp_path_factory.mktemp("cheats") / "cheats.py")
    spec = importlib.util.spec_from_file_location("cheats", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@linux
@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("honest", "PASS"),
        ("reads_the_judge", "WRONG_VALUE"),
        ("patches_what_compares", "WRONG_VALUE"),
        ("says_that_nothing_changed", "INPUT_CHANGED"),
        ("answers_later", "WRONG_VALUE"),
        ("forges_a_reply", "ERROR"),
        ("lies_by_its_dtype", "WRONG_DTYPE"),
    ],
)
def test_a_cheat_in_its_own_process(cheats, name, verdict):
    given = {"like": cheats.reference, "inputs": [(3, 7), (7,)], "dtype": "bf16", "raises": False}
    report = opproof.check(getattr(cheats, name), **given, isolate=True, gradients=False, neighbours=False)
    assert [str(r.verdict) for r in report.results] == [verdict], report
    left = Path(cheats.__file__).with_name("left.txt")
    if name == "answers_later":
        assert [p for p in left.read_text("ascii").split() if _runs(int(p))] == []


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("error", [SystemExit(0), pytest.skip.Exception("not today"), GeneratorExit()], ids=repr)
def test_an_exception_of_another_kind(error):
    """It ends no script with status 0, and skips no test."""

    def candidate(x):
        raise error

    report = opproof.check(candidate, like=lambda x: 2 * x, inputs=[(4, 8)], raises=False)
    assert not report.ok
    assert {r.verdict for r in report.results} == {"ERROR"}
