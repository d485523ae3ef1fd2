"""Docs and code agree: generated pages, the README's generated parts, its commands, links to files."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")])
PAGES = [p for p in PAGES if "node_modules" not in p.parts]


@pytest.mark.parametrize("script", ["found.py", "generate.py", "readme.py"])
def test_generated_parts_are_current(script):
    call = [sys.executable, str(ROOT / "docs" / script), "--check"]
    done = subprocess.run(call, check=False, capture_output=True, text=True, cwd=ROOT / "docs")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_stale_page_is_noticed(tmp_path):
    for name in ("generate.py", "_lists.py", "operators.md", "coverage.md", "onnx.md"):
        shutil.copy(ROOT / "docs" / name, tmp_path / name)
    shutil.copytree(ROOT / "docs" / "lists", tmp_path / "lists")
    page = tmp_path / "operators.md"
    page.write_text(page.read_text(encoding="utf-8").replace("softmax", "sofmax"), encoding="utf-8")
    call = [sys.executable, str(tmp_path / "generate.py"), "--check"]
    done = subprocess.run(call, check=False, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, "docs/operators.md is out of date" in done.stdout) == (1, True), done.stderr


def test_a_list_that_names_no_operator_of_ours_is_noticed(tmp_path):
    for name in ("generate.py", "_lists.py", "onnx.md"):
        shutil.copy(ROOT / "docs" / name, tmp_path / name)
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "theirs.txt").write_text("# Theirs\n# here\nFFT = fft\nGLU = glu_of_old\n", encoding="utf-8")
    call = [sys.executable, str(tmp_path / "generate.py"), "--check"]
    done = subprocess.run(call, check=False, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1
    assert "theirs.txt names operators that we have not: glu_of_old" in done.stderr


def test_ci_runs_the_test_command_of_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    command = next(line for line in readme.splitlines() if line.endswith(".venv/bin/tox"))
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8").replace("--quiet ", "")
    for step in command.split(" && "):
        assert step in script


def test_the_readme_sets_up_before_it_runs_anything():
    """Who reads from the top has what the commands below need."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    first, *others = re.findall(r"^```(?:sh|python|console)\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    assert first.splitlines() == [
        "python3 -m venv .venv",
        ".venv/bin/pip install -c constraints.txt '.[torch]'",
    ]
    assert others[0] == ".venv/bin/opproof run -b torch\n"
    assert readme.index(first) < readme.index(".venv/bin/python examples/first.py") < readme.index(others[1])


@pytest.mark.parametrize("old", ["305 records:", "| `opproof run` |"])
def test_a_stale_readme_is_noticed(tmp_path, old):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert old in readme
    for name in ("docs", "examples"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("node_modules", "__pycache__"))
    (tmp_path / "README.md").write_text(
        readme.replace(old, "| another |" if "|" in old else "7 records:"), encoding="utf-8"
    )
    call = [sys.executable, str(tmp_path / "docs" / "readme.py"), "--check"]
    done = subprocess.run(call, check=False, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, "README.md is out of date" in done.stdout) == (1, True), done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_to_files(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}, which does not exist"
