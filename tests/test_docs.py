"""Docs and code agree: generated pages, the README's generated parts, its commands, links to files."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
import sys
import tomllib
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
    generate = ("generate.py", "_lists.py", "_versions.py")
    pages = ("operators.md", "coverage.md", "reference/onnx.md", "reference/versions.md")
    for name in (*(f"docs/{n}" for n in (*generate, *pages)), "constraints.txt", "pyproject.toml", "tox.ini"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        shutil.copy(ROOT / name, tmp_path / name)
    page, pins = tmp_path / "docs" / "operators.md", tmp_path / "constraints.txt"
    page.write_text(page.read_text(encoding="utf-8").replace("softmax", "sofmax"), encoding="utf-8")
    pins.write_text(pins.read_text(encoding="utf-8").replace("torch==2", "torch==1"), encoding="utf-8")
    call = [sys.executable, str(tmp_path / "docs" / "generate.py"), "--check"]
    done = subprocess.run(call, check=False, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    for stale, said in (("operators", True), ("reference/versions", True), ("coverage", False)):
        assert (f"docs/{stale}.md is out of date" in done.stdout) is said, done.stdout


def test_the_environment_of_the_next_torch_has_every_backend_and_no_torch_of_its_own():
    tox = configparser.ConfigParser()
    tox.read(ROOT / "tox.ini", encoding="utf-8")
    extras = set(tox["testenv:torch-next"]["extras"].split(", "))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    together = ",".join(re.findall(r"\[(.*)\]", "\n".join(project["optional-dependencies"]["backends"]))).split(",")
    assert extras == set(together) - {"torch", "triton"}
    asked = re.fullmatch(
        r"env -u PIP_CONSTRAINT python -m pip install torch==(.*)", tox["testenv:torch-next"]["commands_pre"]
    )
    assert "torch-next" not in tox["tox"]["env_list"]
    assert [int(n) for n in asked[1].split(".")] <= [2, 14, 1]  # later ones are not asked for anywhere


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
