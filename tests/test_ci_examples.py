"""The recipes of examples/ci: their YAML parses, and their commands are run as they stand, on the example library."""

import os
import re
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path

import pytest
from _c_build import EXAMPLE, example, needs_cc

from opproof.harness.__main__ import cli

FOLDER = Path(__file__).parents[1] / "examples" / "ci"
yaml = pytest.importorskip("yaml")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return example(tmp_path_factory.mktemp("library"))


def shell(folder, script, **env):
    """Run `script` as CI does: bash, stopped at the first error."""
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "opproof").write_text(f'#!/bin/sh\nexec {sys.executable} -m opproof.harness "$@"\n', encoding="utf-8")
    (tools / "opproof").chmod(0o755)
    everything = os.environ | {k: str(v) for k, v in env.items()} | {"PATH": f"{tools}:{os.environ['PATH']}"}
    call = ["bash", "-e", "-c", script]
    return subprocess.run(call, cwd=folder, env=everything, capture_output=True, text=True, check=False)


def setting(tmp_path, library):
    (tmp_path / "known.toml").write_text("", encoding="utf-8")
    return {
        "LIBRARY": library,
        "SELECT": "-o relu,sum --level smoke -j1",
        "KNOWN": tmp_path / "known.toml",
        "BASELINE": tmp_path / "baseline",
    }


@needs_cc
def test_github(tmp_path, library):
    workflow = yaml.safe_load((FOLDER / "github-actions.yml").read_text(encoding="utf-8"))
    env = setting(tmp_path, library)
    assert env.keys() <= workflow["env"].keys()
    jobs = {name: {s["name"]: s["run"] for s in job["steps"] if "run" in s} for name, job in workflow["jobs"].items()}
    shards = workflow["jobs"]["run"]["strategy"]["matrix"]["shard"]
    for shard in shards:
        run = jobs["run"]["Run"].replace("${{ matrix.shard }}", str(shard))
        done = shell(tmp_path, run, **env)
        assert done.returncode == 0, done.stderr
        (tmp_path / "part").rename(tmp_path / f"part-{shard}")
    (tmp_path / "parts").mkdir()
    for shard in shards:
        (tmp_path / f"part-{shard}").rename(tmp_path / "parts" / f"part-{shard}")
    done = shell(tmp_path, jobs["report"]["Merge"], **env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert shell(tmp_path, 'opproof baseline save report "$BASELINE"', **env).returncode == 0
    done = shell(tmp_path, jobs["report"]["Report"], **env, GITHUB_STEP_SUMMARY=tmp_path / "summary.md")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("::notice title=opproof::")
    assert "### ✅ opproof" in (tmp_path / "summary.md").read_text(encoding="utf-8")
    done = shell(tmp_path, jobs["report"]["Compare"], **env)
    assert (done.returncode, done.stdout.splitlines()[-1][:13]) == (0, "No regression")
    assert {"report.html", "changes.md", "junit.xml"} <= {p.name for p in (tmp_path / "report").iterdir()}


@needs_cc
def test_gitlab_fails_when_a_shard_is_missing(tmp_path, library):
    jobs = yaml.safe_load((FOLDER / "gitlab-ci.yml").read_text(encoding="utf-8"))
    env = setting(tmp_path, library)
    assert env.keys() <= jobs["variables"].keys()
    total = jobs["opproof-run"]["parallel"]
    run = [line for line in jobs["opproof-run"]["script"] if line.startswith("opproof")]
    report = [line for line in jobs["opproof-report"]["script"] if not line.startswith("pip")]
    for shard in range(1, total):
        done = shell(tmp_path, "\n".join(run), **env, CI_NODE_INDEX=shard, CI_NODE_TOTAL=total)
        assert done.returncode == 0, done.stderr
    done = shell(tmp_path, "\n".join(report), **env)
    assert done.returncode != 0
    assert f"missing: shard {total}/{total} on {library}" in done.stdout
    done = shell(tmp_path, "\n".join(run), **env, CI_NODE_INDEX=total, CI_NODE_TOTAL=total)
    shell(tmp_path, 'opproof merge part-* --out report && opproof baseline save report "$BASELINE"', **env)
    done = shell(tmp_path, "\n".join(report), **env)
    assert done.returncode == 0, done.stdout + done.stderr


def test_tox_commands_are_calls_of_opproof():
    config = ConfigParser()
    config.read(FOLDER / "tox.ini", encoding="utf-8")
    lines = [
        line for name in config.sections() for line in config.get(name, "commands", fallback="").split("\n") if line
    ]
    calls = [line for line in lines if line.startswith("opproof ")]
    assert len(calls) == 2
    for line in calls:
        words = re.sub(r"\{posargs[^}]*\}", "", line).split()[1:]
        command = cli.get_command(None, words[0])
        assert command.make_context(words[0], words[1:]).params
    assert any("--opproof-backend=" in line for line in lines)


def test_docs_name_the_recipes():
    text = (FOLDER.parents[1] / "docs" / "how-to" / "ci.md").read_text(encoding="utf-8")
    assert {p.name for p in FOLDER.iterdir()} == set(re.findall(r"\(\.\./\.\./examples/ci/([\w.-]+)\)", text))
    assert EXAMPLE.is_dir()
