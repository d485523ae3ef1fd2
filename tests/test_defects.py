"""docs/defects: every reproduction still shows its defect on the installed library, as docs/data/defects.json says."""

from __future__ import annotations

import importlib.metadata
import shutil

import pytest
from _site import DOCS, parts

upstream = parts["defects"]
LIBRARIES = sorted(upstream.LIBRARIES)


def told(library):
    """What each program printed when it was last recorded."""
    return upstream.read("defects")[library]["answers"]


def trouble(library, said):
    """What is wrong with the reproductions of a library that said so, a sentence each."""
    printed, known = told(library), upstream.entries(library)
    found = []
    for r in upstream.reproductions(library):
        gone = [" ".join(pair) for pair in r.ledger if pair not in known]
        found += [f"{library}/{r.name}: the ledger has no entry of {pair}: take it from the docstring" for pair in gone]
        if upstream.hidden(r):
            continue
        if said[r.name] == r.expected:
            found.append(f"{library}/{r.name}: the defect is gone, it leaves the ledger: {r.ledger}")
        elif printed.get(r.name) != said[r.name]:
            found.append(f"{library}/{r.name} prints {said[r.name]!r}: run `python docs/parts/defects.py {library}`")
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
    said = told("torch")
    assert trouble("torch", said) == []
    mended = next(r for r in upstream.reproductions("torch") if r.name == "hypot_zero")
    assert trouble("torch", {**said, "hypot_zero": mended.expected}) == [
        f"torch/hypot_zero: the defect is gone, it leaves the ledger: {mended.ledger}"
    ]
    assert trouble("torch", {**said, "hypot_zero": "7"}) == [
        "torch/hypot_zero prints '7': run `python docs/parts/defects.py torch`"
    ]


@pytest.mark.parametrize("library", LIBRARIES)
def test_programs_are_short_and_need_the_library_alone(library):
    for r in upstream.reproductions(library):
        assert "opproof" not in r.code, r.name
        assert len(r.code.splitlines()) <= 28, r.name
        assert r.upstream == "" or r.upstream.startswith("https://"), r.name


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_page_has_every_program_and_what_it_prints(library):
    text, printed = upstream.page(library), told(library)
    some = upstream.reproductions(library)
    assert sorted(printed) == sorted(r.name for r in some), f"run `python docs/parts/defects.py {library}`"
    assert {path.name for path in (DOCS / "defects").iterdir()} == {*LIBRARIES}
    for r in some:
        assert f'<a id="{r.name}"></a>' in text
        assert f"```python\n{r.code}\n```" in text
        assert f"Expected:\n\n```text\n{r.expected}\n```\n\nGot:\n\n```text\n{printed[r.name]}\n```" in text


def test_an_unknown_library_is_refused(capsys):
    assert upstream.main(["numpy"]) == 2
    assert "unknown library 'numpy': expected some of aidge, autograd, " in capsys.readouterr().out
