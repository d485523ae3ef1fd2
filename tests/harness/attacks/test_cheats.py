"""What generated kernels do to pass: every file of examples/cheats gets the verdict that it names, and none passes."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from opproof.core.verdicts import Verdict
from opproof.reports import read_results

FOLDER = Path(__file__).parents[3] / "examples" / "cheats"
#: One is enough: what a cheat keeps of a call shows where it is asked again, alone and after others.
CASES = ("softmax[x=7x1023;dim=-1;f32;seed=2]",)

#: What must also be said.
REASONS = {
    "cached_by_shape": "right when called alone|that of the call before",
    "forged_answer": "bytes follow|the answer has id",
    "judges_memory": "PermissionError|FileNotFoundError",  # the second: /proc shows nobody else's processes
    "kills_the_judge": "PermissionError: a backend cannot signal",
    "reference_backend": "ImportError: a backend cannot import",
    "reference_by_path": "PermissionError: a backend cannot read",
    "reference_elsewhere": "a backend cannot import the references|(No module named|from) 'opproof.reference_ops",
    "reference_imported": "ImportError: a backend cannot import",
    "reference_source": "PermissionError: a backend cannot read",
    "resized_memory": "PermissionError",
    "traced_judge": "PermissionError",
    "lazy_object": "expected a NumPy array",
    "lazy_subclass": "expected a NumPy array",
    "equal_to_everything": "expected a NumPy array",
    "late_thread": "elements were not written|still being written",
}

#: Between the tests and the run, as a script of a CI service is: a command line whose words are no paths.
PARENT = "import subprocess, sys; sys.exit(subprocess.call([sys.executable, *sys.argv[2:]]))"


@dataclass(frozen=True)
class Cheat:
    """A file, as its docstring describes it."""

    name: str
    what: str
    seen: str
    verdict: Verdict


def read(path: Path) -> Cheat:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert text is not None
    what, found = text.split("\n\n")
    seen, verdict = re.fullmatch(r"Seen: (.+?)\nVerdict: (\w+)", found, flags=re.DOTALL).groups()
    return Cheat(path.stem, " ".join(what.split()), " ".join(seen.split()), Verdict(verdict))


CHEATS = [read(path) for path in sorted(FOLDER.glob("*.py"))]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """All cheats in one run of the command line, and what it said."""
    folder = tmp_path_factory.mktemp("cheats")
    backends = [part for c in CHEATS for part in ("-b", str(FOLDER / f"{c.name}.py"))]
    options = ["--mode", "forward", "-j", "2", "--timeout", "30", "--quiet", "--out", str(folder / "out")]
    cases = [part for case in CASES for part in ("--case", case)]
    environment = {k: v for k, v in os.environ.items() if k != "OPPROOF_REFERENCES"} | {"CHEATS_FOLDER": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", PARENT, "y" * 5000, "-m", "opproof.harness", "run", *backends, *options, *cases],
        capture_output=True, text=True, check=False, env=environment, cwd=folder, timeout=550,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    return done, read_results(folder / "out")[1]


@pytest.mark.parametrize("cheat", CHEATS, ids=lambda cheat: cheat.name)
def test_a_cheat_does_not_pass(cheat, run):
    results = [r for r in run[1] if Path(r.backend).stem == cheat.name]
    assert {r.case: r.verdict for r in results} == dict.fromkeys(CASES, cheat.verdict)
    for result in results:
        assert re.search(REASONS.get(cheat.name, ""), result.message), result.message


def test_changed_results_are_noticed(run):
    """The cheat that writes to results.jsonl: the file holds again what was measured, and the run says so."""
    assert "results.jsonl" in run[0].stdout


def test_there_are_cheats_enough():
    assert len(CHEATS) >= 20
    assert {c.name for c in CHEATS} >= set(REASONS)
    assert Verdict.PASS not in {c.verdict for c in CHEATS}


def test_the_table_is_current():
    table = (FOLDER / "README.md").read_text(encoding="utf-8")
    rows = [f"| [{c.name}]({c.name}.py) | {c.what} | {c.seen} | {c.verdict} |" for c in CHEATS]
    assert [line for line in table.splitlines() if line.startswith("| [")] == rows
