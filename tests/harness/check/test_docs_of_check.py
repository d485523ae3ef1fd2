"""Every block of docs/how-to/check/ runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("torch")

from opproof.harness.__main__ import cli

DOCS = Path(__file__).parents[3] / "docs" / "how-to" / "check"
_BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


pages = pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda p: p.stem)


@pages
def test_blocks_run(page, tmp_path, monkeypatch):
    """What a check tries beyond its variants is left out: seconds a page."""
    monkeypatch.chdir(tmp_path)
    run_blocks(page, tmp_path)


@pytest.mark.deep
@pages
def test_blocks_run_with_all_that_is_tried(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_blocks(page, tmp_path)


def run_blocks(page, folder):
    names = {}
    for language, file, text in _BLOCK.findall(page.read_text(encoding="utf-8")):
        if file:
            (folder / file).write_text(text, encoding="utf-8")
        elif language == "python":
            exec(compile(text, str(page), "exec"), names)
        else:
            for line in text.splitlines():
                done = CliRunner().invoke(cli, line.split()[1:], standalone_mode=False)
                assert not done.return_value, done.output


def test_pages_are_of_one_screen():
    for page in DOCS.glob("*.md"):
        assert len(page.read_text(encoding="utf-8").splitlines()) < 80, page
