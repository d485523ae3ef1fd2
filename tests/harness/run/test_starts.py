"""How many processes a backend is loaded in: no more than there is a reason for."""

import subprocess
import sys

import pytest

from opproof.harness.known_failures.known import Known
from opproof.harness.run.session.worker import Session
from opproof.harness.run.task import HostLimits, Task

BACKEND = """
import os
from pathlib import Path

(Path(__file__).parent / f"loaded-{os.getpid()}").touch()

def forward(op, inputs, params):
    if inputs[0].shape[0] == 0:
        raise IndexError("index 0 is out of range")
    return abs(inputs[0])
"""
CASES = ["abs[x=7x33;f32]", "abs[x=0x3;f32]", "abs[x=7x34;f32]"]


def loaded(folder):
    return len(list(folder.glob("loaded-*")))


@pytest.fixture
def backend(tmp_path):
    (tmp_path / "mine.py").write_text(BACKEND, encoding="utf-8")
    return str(tmp_path / "mine.py")


@pytest.mark.parametrize("known", [True, False])
def test_a_known_error_is_not_looked_at_again(tmp_path, backend, known):
    """What an earlier case did could be why one raises; where it is known to raise, nobody asks a fresh process."""
    entry = Known(patterns=("abs[x=0x3;*",), reason="an empty batch raises", verdict="ERROR")
    desk = Session(HostLimits(1, 20.0, 2**30))
    try:
        tasks = [Task(backend, case, "forward", known=(entry,) if known else ()) for case in CASES]
        verdicts = [str(r.verdict) for task in tasks for r in desk.results([task])]
    finally:
        desk.close()
    assert verdicts == ["PASS", "ERROR", "PASS"]
    assert loaded(tmp_path) == (1 if known else 2)


def test_a_judge_that_would_have_no_case_is_not_started(tmp_path, backend):
    command = [sys.executable, "-m", "opproof.harness", "run", "-b", backend, "-j", "4", "--quiet", "--mode", "forward"]
    run = subprocess.run([*command, "--case", CASES[0], "--out", "out"], cwd=tmp_path, capture_output=True, check=False)
    assert run.returncode == 0, run.stderr
    assert loaded(tmp_path) == 2  # by one judge's host, and by the program that asks once more
