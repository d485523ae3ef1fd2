"""action.yml, the hook, the release: each step's shell is executed as a runner would, with a `gh` that takes notes."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
yaml = pytest.importorskip("yaml")

RIGHT = """
import numpy as np
def forward(op, inputs, params):
    return np.maximum(inputs[0], 0)
"""
WRONG = RIGHT.replace("np.maximum(inputs[0], 0)", "np.maximum(inputs[0], 0) * inputs[0].dtype.type(1.01)")


class Runner:
    """Runs the steps of action.yml in a folder as GitHub does: their env filled in, in order, until one fails."""

    def __init__(self, folder):
        self.folder, self.action = folder, yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
        self.log, self.outputs = "", {}
        tools = folder / "tools"
        tools.mkdir()
        programs = {"opproof": f'exec {sys.executable} -m opproof.harness "$@"', "gh": 'echo "$@" >> gh.log'}
        for name, text in programs.items():
            (tools / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
            (tools / name).chmod(0o755)
        self.env = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}"}

    def __call__(self, **given):
        inputs = {name: str(about.get("default", "")) for name, about in self.action["inputs"].items()} | given
        known = {f"inputs.{name}": value for name, value in inputs.items()}
        known |= {
            "github.event_name": "pull_request",
            "github.event.pull_request.number": "7",
            "github.repository": "a/b",
        }
        for step in self.action["runs"]["steps"]:
            known |= self.outputs
            if "run" in step and self.wanted(step.get("if", ""), known):
                values = {k: self.filled(v, known) for k, v in step.get("env", {}).items()}
                if self.step(step, values):
                    return False
        return True

    def step(self, step, values):
        noted = self.folder / "output"
        noted.write_text("", encoding="utf-8")
        files = {"GITHUB_OUTPUT": str(noted), "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md")}
        call = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(
            call, cwd=self.folder, env=self.env | values | files, capture_output=True, text=True, check=False
        )
        self.log += done.stdout + done.stderr
        for row in noted.read_text(encoding="utf-8").splitlines():
            name, _, value = row.partition("=")
            self.outputs[f"steps.{step['id']}.outputs.{name}"] = value
        return done.returncode

    @staticmethod
    def filled(text, known):
        return re.sub(r"\$\{\{ (.*?) \}\}", lambda m: known.get(m[1], ""), text)

    @staticmethod
    def wanted(condition, known):
        parts = condition.removeprefix("${{").removesuffix("}}").split("&&")
        for part in filter(None, map(str.strip, parts)):
            name, sign, value = part.split(maxsplit=2)
            if (known.get(name, "") == value.strip("'")) != (sign == "=="):
                return False
        return True


@pytest.fixture
def runner(tmp_path):
    (tmp_path / "mine.py").write_text(RIGHT, encoding="utf-8")
    return Runner(tmp_path)


GIVEN = {"backend": "./mine.py", "options": "-o relu --level smoke --dtype f32 --mode forward -j 1", "install": ""}


def test_the_action_runs_comments_and_gates(runner, tmp_path):
    assert runner(**GIVEN), runner.log
    assert "::notice title=opproof::mine.py passes" in runner.log
    assert "### ✅ opproof" in (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert "### ✅ opproof" in (tmp_path / "opproof-report" / "comment.md").read_text(encoding="utf-8")
    assert (
        (tmp_path / "gh.log")
        .read_text(encoding="utf-8")
        .startswith("pr comment 7 --body-file opproof-report/comment.md")
    )
    assert {"report.html", "junit.xml"} <= {p.name for p in (tmp_path / "opproof-report").iterdir()}
    assert runner.outputs["steps.gate.outputs.status"] == "0"


def test_a_broken_backend_fails_the_gate_that_was_chosen(runner, tmp_path):
    (tmp_path / "mine.py").write_text(WRONG, encoding="utf-8")
    assert not runner(**GIVEN)
    assert "::error title=relu forward%2C WRONG_VALUE%3A" in runner.log
    assert runner.outputs["steps.gate.outputs.status"] == "1"
    saved = [sys.executable, "-m", "opproof.harness", "baseline", "save", "opproof-report", "baseline"]
    subprocess.run(saved, cwd=tmp_path, check=True, capture_output=True)
    assert runner(**GIVEN, gate="baseline", baseline="baseline"), runner.log  # nothing is worse
    assert not runner(**GIVEN, gate="both", baseline="baseline")


@pytest.mark.parametrize(("given", "said"), [
    ({"gate": "basline"}, "::error title=opproof::gate is 'basline': expected ledger, baseline or both."),
    ({"gate": "baseline"}, "::error title=opproof::gate is 'baseline', which needs a baseline"),
])  # fmt: skip
def test_a_gate_that_is_none_fails(runner, given, said):
    assert not runner(**GIVEN, **given)
    assert said in runner.log


def test_no_value_reaches_a_shell_but_through_the_environment():
    for name in ("action.yml", ".github/workflows/release.yml"):
        text = yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))
        jobs = text.get("jobs", {"": text.get("runs")}).values()
        assert not [s["run"] for job in jobs for s in job["steps"] if "${{" in s.get("run", "")]


def test_the_hook_is_a_command():
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    command = [sys.executable, "-m", "opproof.harness", *hook["entry"].split()[1:], "--help"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    assert hook["id"] == "opproof"


@pytest.fixture
def tree(tmp_path):
    for name in ("README.md", "pyproject.toml", "harness/__init__.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    return tmp_path


def test_what_is_published_has_addresses(tree, monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import published

    tag = f"v{published.version(tree)}"
    before = (tree / "README.md").read_text(encoding="utf-8")
    assert published.main("a/b", "v99", tree) == 2
    assert f"the tag is v99, expected {tag}" in capsys.readouterr().out
    assert (tree / "README.md").read_text(encoding="utf-8") == before
    assert published.main("a/b", tag, tree) == 0
    text = (tree / "README.md").read_text(encoding="utf-8")
    assert not re.findall(r"\]\((?!https?://|#)", text)
    assert f"![The HTML report](https://raw.githubusercontent.com/a/b/{tag}/docs/report.png)" in text
    for path in re.findall(rf"https://(?:github\.com/a/b/blob|raw\.githubusercontent\.com/a/b)/{tag}/([^)#]+)", text):
        assert (ROOT / path).exists(), path
    urls = tomllib.loads((tree / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    assert urls["Homepage"] == "https://github.com/a/b"
    with pytest.raises(ValueError, match="has \\[project.urls\\] already"):
        published.main("a/b", tag, tree)


def test_the_citation_has_the_version():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    from opproof.harness import __version__

    assert cited["version"] == __version__
    assert cited["cff-version"] == "1.2.0"
    assert {"title", "authors", "message"} <= cited.keys()
