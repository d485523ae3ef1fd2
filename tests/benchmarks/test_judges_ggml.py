"""Mistakes in ggml's source: each is asked of operators that there are, is planted at one place, and stays a row."""

import importlib
import json
import sys
from pathlib import Path

import pytest

from opproof.backends.ggml import TABLE

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "benchmarks" / "judges_ggml"
sys.path.insert(0, str(FOLDER))
MISTAKE = importlib.import_module("mistake")
MISTAKES = [m for file in ("values", "structures") for m in importlib.import_module(file).MISTAKES]
sys.path.remove(str(FOLDER))


def test_each_mistake_has_a_switch_and_operators_that_the_adapter_knows():
    assert len({(m.file, m.after, m.find, m.put) for m in MISTAKES}) == len(MISTAKES) >= 40
    for m in MISTAKES:
        assert MISTAKE.WRONG in m.put
        assert set(m.ours.split(",")) & set(TABLE), m.what
        assert m.theirs.isupper()


def test_a_mistake_takes_the_place_behind_its_anchor_with_its_number(tmp_path, monkeypatch):
    monkeypatch.setattr(MISTAKE, "SWITCH", ())
    (tmp_path / "a.c").write_text("int f(x) { return x + 1; }\nint g(x) { return x + 1; }\n")
    two = MISTAKES[0]._replace(file="a.c", after="int g(", find="x + 1", put="x + (WRONG ? 2 : 1)")
    MISTAKE.plant(tmp_path, [two])
    planted = "int f(x) { return x + 1; }\nint g(x) { return x + (MISTAKE(1) ? 2 : 1); }\n"
    assert (tmp_path / "a.c").read_text() == planted
    with pytest.raises(ValueError, match="mistake 1 has no place: x - 1"):
        MISTAKE.plant(tmp_path, [two._replace(find="x - 1")])


def test_the_page_has_the_mistakes_that_the_list_has():
    kept = json.loads((ROOT / "docs" / "data" / "judges-ggml.json").read_text())["mistakes"]
    asked = {int(number): row for number, row in kept.items() if int(number)}
    assert len(asked) >= 40
    assert all(row["what"] == MISTAKES[number - 1].what for number, row in asked.items())
