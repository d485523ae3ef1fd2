"""docs/upstream: every reproduction still shows its defect on the installed library, and its page says so."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shutil
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
_SPEC = importlib.util.spec_from_file_location("upstream", DOCS / "upstream.py")
assert _SPEC is not None
assert _SPEC.loader is not None
upstream = importlib.util.module_from_spec(_SPEC)
sys.modules["upstream"] = upstream
_SPEC.loader.exec_module(upstream)

LIBRARIES = sorted(path.stem for path in upstream.HERE.glob("*.md"))


def trouble(library, said):
    """What is wrong with the reproductions of a library that said so, a sentence each."""
    page = (upstream.HERE / f"{library}.md").read_text(encoding="utf-8")
    printed, known = upstream.pages_of(page), upstream.entries(library)
    found = []
    for r in upstream.reproductions(library):
        gone = [" ".join(pair) for pair in r.ledger if pair not in known]
        found += [f"{library}/{r.name}: the ledger has no entry of {pair}: take it from the docstring" for pair in gone]
        if upstream.hidden(r):
            continue
        if said[r.name] == r.expected:
            found.append(f"{library}/{r.name}: the defect is gone, it leaves the ledger: {r.ledger}")
        elif r.code not in page or printed.get(r.name) != said[r.name]:
            found.append(f"{library}/{r.name} prints {said[r.name]!r}: run `python docs/upstream.py {library}`")
    return found


@pytest.mark.parametrize("library", LIBRARIES)
def test_each_reproduction_shows_its_defect(library):
    try:
        upstream.version(library)
    except importlib.metadata.PackageNotFoundError:
        count = len(upstream.reproductions(library))
        pytest.skip(f"{upstream.LIBRARIES[library][0]} is not installed: {count} reproductions not run")
    if library == "tinygrad" and shutil.which("clang") is None:
        pytest.skip("no clang, which tinygrad's CPU compiles with")
    assert trouble(library, upstream.asked(library)) == []


def test_a_defect_that_is_gone_leaves_the_ledger():
    said = upstream.pages_of((upstream.HERE / "torch.md").read_text(encoding="utf-8"))
    assert trouble("torch", said) == []
    mended = next(r for r in upstream.reproductions("torch") if r.name == "hypot_zero")
    told = trouble("torch", {**said, "hypot_zero": mended.expected})
    assert told == [f"torch/hypot_zero: the defect is gone, it leaves the ledger: {mended.ledger}"]
    told = trouble("torch", {**said, "hypot_zero": "7"})
    assert told == ["torch/hypot_zero prints '7': run `python docs/upstream.py torch`"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_programs_are_short_and_need_the_library_alone(library):
    for r in upstream.reproductions(library):
        assert "opproof" not in r.code, r.name
        assert len(r.code.splitlines()) <= 28, r.name
        assert r.upstream == "" or r.upstream.startswith("https://"), r.name
