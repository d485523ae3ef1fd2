"""Docs and code agree: generated pages, the README's generated parts, its commands, links to files."""

from __future__ import annotations

import configparser
import functools
import json
import os
import re
import shutil
import tomllib
from pathlib import Path

import pytest
from _site import ROOT, generate, parts, readme

from opproof.core.text import dump_json
from opproof.harness.judge.array_statistics import BIAS, RMS
from opproof.harness.judge.bound import C
from opproof.reference_ops import load, names

#: Two tests look at all parts.
built = functools.cache(generate.built)

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")])
PAGES = [p for p in PAGES if "node_modules" not in p.parts]


def test_every_part_has_a_place_and_is_built():
    """All but what takes long: the pages of coverage have a test of their own, and of operators a few are built."""
    asked = {name for page in PAGES for name in generate.MARK.findall(page.read_text(encoding="utf-8"))}
    assert asked == set(generate.PARTS)
    for name in sorted(asked - {"coverage rules", "coverage counts"}):
        assert built(name).strip(), name


def test_a_part_that_nothing_builds_is_named():
    with pytest.raises(ValueError, match="builds no part 'sofmax'; expected one of coverage conditions, "):
        generate.fill("# A page\n\n<!-- built: sofmax -->\n")


def test_what_is_no_summary_is_named(tmp_path, monkeypatch):
    (tmp_path / "soak.json").write_text("{", encoding="utf-8")
    monkeypatch.setattr(parts["tables"], "DATA", tmp_path)
    with pytest.raises(ValueError, match=r"docs/data/soak.json is no JSON"):
        parts["soak"].summary()


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "data").iterdir()), ids=lambda path: path.stem)
def test_a_summary_is_as_its_writer_lays_it_out(path):
    """Whoever measures again changes the lines of what is another, and no other."""
    text = path.read_text(encoding="utf-8")
    assert text == dump_json(json.loads(text))


def test_summaries_are_of_what_there_is():
    """Operators with another name, and constants of another size, have to be measured again."""
    read = parts["tables"].read
    assert read("soak")["constants"] == {"C": C, "RMS": RMS, "bias": BIAS}
    measured = {*read("mutation")["operators"], *read("mutation-typed")["operators"]}
    measured |= {row["operator"] for row in read("torch-references")}
    assert measured <= set(names())


def test_pages_are_written_to_a_new_folder(tmp_path, monkeypatch, capsys):
    assert generate.main(tmp_path) == 2
    assert "is there already" in capsys.readouterr().out
    monkeypatch.setattr(generate, "whole_pages", lambda: {"reference/defects/some.md": "# Some"})
    monkeypatch.setattr(generate, "built", lambda name: f"[{name}]")
    assert generate.main(tmp_path / "site") == 0
    page = (tmp_path / "site" / "explanation" / "false-alarms.md").read_text(encoding="utf-8")
    assert "\n[soak libraries]\n" in page
    assert (tmp_path / "site" / "reference" / "defects" / "some.md").read_text(encoding="utf-8") == "# Some"
    assert not (tmp_path / "site" / "data").exists()


@pytest.fixture(scope="module")
def session():
    """What the README's session prints today."""
    return readme.session(*readme.RUN)


def test_the_readme_is_current(session):
    assert readme.is_current(readme.README.read_text(encoding="utf-8"), session), "run `python docs/readme.py`"


def test_the_readme_shows_what_its_first_example_prints():
    text, output = readme.README.read_text(encoding="utf-8"), readme.printed()
    assert readme.is_output_current(text, output), "run `python docs/readme.py`"
    for old in ("my_kernel, small values", "4 of 46 records failed"):
        assert not readme.is_output_current(text.replace(old, "another"), output)


@pytest.mark.parametrize("old", ["\n4 records:", "| `opproof run` |"])
def test_a_stale_readme_is_noticed(session, old):
    text = readme.README.read_text(encoding="utf-8")
    assert old in text
    assert not readme.is_current(text.replace(old, "| another |" if "|" in old else "\n7 records:"), session)


def test_versions_follow_the_pins(tmp_path):
    for name in ("constraints.txt", "pyproject.toml", "tox.ini"):
        shutil.copy(ROOT / name, tmp_path / name)
    pins = tmp_path / "constraints.txt"
    pins.write_text(pins.read_text(encoding="utf-8").replace("torch==2", "torch==1"), encoding="utf-8")
    before, after = (dict(row[:2] for row in parts["versions"].rows(root)) for root in (ROOT, tmp_path))
    assert before.pop("torch").startswith("2.")
    assert after.pop("torch").startswith("1.")
    assert before == after


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


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_to_files(page):
    for target in _links(page.read_text(encoding="utf-8")):
        assert _is_there(page.parent / target), f"{page.name} links to {target}, which does not exist"


def test_links_of_what_is_built_lead_to_files():
    texts = {name: built(name) for name in generate.PARTS if not name.startswith("coverage")}
    places = {name: page for page in PAGES for name in generate.MARK.findall(page.read_text(encoding="utf-8"))}
    found = [(places[name], text) for name, text in texts.items()]
    found += [(ROOT / "docs" / place, text) for place, text in parts["defects"].pages().items()]
    operators = parts["operator_pages"]
    for op in map(load, ("add", "softmax", "floor")):
        text = operators.page(op, {"standard": []}, parts["support"].states()[op.name])
        found.append((ROOT / "docs" / "reference" / "operators" / f"{op.name}.md", text))
    for page, text in found:
        for target in _links(text):
            assert _is_there(page.parent / target), f"{page.name} links to {target}, which does not exist"


def _links(text):
    """The targets of a text's links but for code, and for addresses."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return [target for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose) if "://" not in target]


def _is_there(path):
    """Whether the file is in the tree, or is a page that the site builds."""
    built = {f"reference/defects/{library}.md" for library in parts["defects"].LIBRARIES}
    built |= {f"reference/operators/{name}.md" for name in names()}
    path = Path(os.path.normpath(path))
    return path.exists() or (path.is_relative_to(ROOT / "docs") and str(path.relative_to(ROOT / "docs")) in built)
