"""The tutorial's commands, run as they stand; the site of docs/ where mkdocs is installed."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from _c_build import needs_cc
from _site import parts

ROOT = Path(__file__).parent.parent
PAGES = sorted(p for p in (ROOT / "docs" / "tutorial").glob("*.md") if p.stem != "tour")
#: The comment before a block says that it is run: with which exit status, 0 unless told, or with what it needs.
BLOCK = re.compile(r"<!-- run(?:: (\w+))? -->\n\n```sh\n(.*?)\n```", re.DOTALL)


def run(script, folder):
    """Run it as a reader would, from bash, stopped at the first error."""
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "opproof").write_text(f'#!/bin/sh\nexec {sys.executable} -m opproof.harness "$@"\n', encoding="utf-8")
    (tools / "opproof").chmod(0o755)
    env = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}"}
    return subprocess.run(
        ["bash", "-e", "-c", script], cwd=folder, env=env, capture_output=True, text=True, check=False
    )


@needs_cc
@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_commands_do_what_the_page_says(page, tmp_path):
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    assert blocks
    for word, script in blocks:
        if word and not word.isdigit() and importlib.util.find_spec(word) is None:
            pytest.skip(f"{word} is not installed")
        done = run(script, tmp_path)
        status = int(word) if word.isdigit() else 0
        assert done.returncode == status, f"{script}\n{done.stdout}\n{done.stderr}"


def test_a_command_that_fails_is_noticed(tmp_path):
    assert run("opproof list nothing_of_the_kind", tmp_path).returncode == 2


def loaded(name):
    """A script of docs/, as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def nav():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    return set(re.findall(r": ([\w/-]+\.md)$", text, re.MULTILINE))


def test_the_sites_pages_are_there():
    docs = ROOT / "docs"
    assert {"index.md", "tutorial/c_library.md", "explanation/reading.md", "tutorial/tour.md"} <= nav()
    built = {f"reference/defects/{library}.md" for library in parts["defects"].LIBRARIES}
    assert nav() <= built | {str(p.relative_to(docs)) for p in docs.rglob("*.md")}


def test_links_out_of_the_docs_lead_to_the_repository():
    site = loaded("site/links")
    text = "[a](../../examples/ci) [b](../how-to/ci.md#the-action) [c](https://x.org) [d](../../README.md)"
    assert site.absolute(text, "tutorial/ci.md", ROOT / "docs") == (
        f"[a]({site.REPOSITORY}/tree/main/examples/ci) [b](../how-to/ci.md#the-action) [c](https://x.org) "
        f"[d]({site.REPOSITORY}/blob/main/README.md)"
    )


@pytest.mark.skipif(shutil.which("mkdocs") is None, reason="mkdocs is not installed: tox -e site builds the site")
def test_the_site_builds_without_a_warning(tmp_path):
    env = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    call = ["mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    done = subprocess.run(call, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr


def test_the_tour_is_that_of_its_script():
    """`tox -e tour` plays it, in minutes; here the page has its commands, in their order."""
    tour = loaded("tour")
    shown = re.findall(r"^\$ (.*)$", (ROOT / "docs" / "tutorial" / "tour.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert shown == [step.command for step in (*tour.FIRST, *tour.REST)]


def test_a_tour_that_ends_otherwise_is_noticed(tmp_path):
    tour = loaded("tour")
    for step in (tour.Step("", "false"), tour.Step("", "echo no", holds="yes")):
        with pytest.raises(RuntimeError, match="ended with"):
            tour.played(step, tmp_path)
