"""Leave-one-out counts what is caught without a level, and every family has bugs and levels."""

import importlib.util
import math
import sys
from pathlib import Path

import numpy as np
import pytest

from opproof.cases import Case, cases_of
from opproof.reference_ops import load

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def space():
    sys.path.insert(0, str(BENCHMARKS))
    spec = importlib.util.spec_from_file_location("leave_one_out", BENCHMARKS / "space.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path.remove(str(BENCHMARKS))


def test_every_family_has_bugs_and_levels_that_cases_have(space):
    ops = {bug.op for bug in space.BUGS}
    for family in space.FAMILIES:
        own = [bug for bug in space.BUGS if family.is_of(bug.what)]
        assert own or family.tells == ("cropped", "at a dense stride"), family.name
        assert {bug.op for bug in own} <= ops
        assert any(family.has_level(case) for bug in own for case in cases_of(bug.op)), family.name
        assert not family.has_level(Case.parse("tanh[x=3x4;f32]"))


def made(space, tells, *, mutant=False):
    parts = {"rows": ["tanh[x=9x9;f32]"], "array": ["tanh[x=2x65537;f32]"], "drawn": ["tanh[x=3x4;f32]"] * 2}
    return space.Told("rows past 65,536 are 0", mutant, frozenset(tells), parts)


def test_what_needs_a_level_is_lost_without_it(space):
    (family,) = [f for f in space.FAMILIES if f.has_level is space.has_long_axis]
    long, both = made(space, ["tanh[x=2x65537;f32]"]), made(space, ["tanh[x=2x65537;f32]", "tanh[x=3x4;f32]"])
    found = space.leave_out(family, [long, both, made(space, ["tanh[x=9x9;f32]"], mutant=True)])
    assert found["of"] == [2, 1]
    assert found["standard"] == found["drawn"] == [2, 1]
    assert (found["without"], found["drawn_without"]) == ([0, 1], [1, 1])
    assert found["lost"] == [long.what]


def test_levels_that_are_drawn_alone_leave_rows_as_they_are(space):
    (family,) = [f for f in space.FAMILIES if f.keeps_rows]
    parts = {"rows": ["argmax[x=4,;dim=0;i8]"], "array": [], "drawn": []}
    told = space.Told("least number", False, frozenset(parts["rows"]), parts)
    assert space.leave_out(family, [told])["without"] == [1, 0]


def test_the_curve_is_the_share_of_choices_with_a_telling_case(space):
    parts = {"rows": ["a", "b", "c", "d"], "array": ["a"], "drawn": []}
    curve = space.trace_curve([space.Told("x", False, frozenset("ad"), parts)])
    assert curve["rows"][:3] == [0.5, round(1 - 1 / 6, 4), 1.0]
    assert curve["array"] == [1.0, 1.0]


@pytest.mark.parametrize(
    ("got", "off"), [([1.0, 2.0], 0.0), ([1.0, 3.0], 0.5), ([1.0, np.nan], math.inf), ([1.0, np.inf], 2.0**-6)]
)
def test_how_far_an_answer_is_off(space, got, off):
    right = [np.array([1.0, 2.0], np.float32)]
    assert space.measure_distance([np.array(got, np.float32)], right) == off
    assert space.measure_distance([], right) == math.inf
    endless = [np.array([1.0, np.inf], np.float32)]
    assert space.measure_distance([np.array([1.0, np.nan], np.float32)], endless) == space.FAR


def test_a_bug_is_told_by_the_cases_that_have_it(space):
    (bug,) = [bug for bug in space.BUGS if bug.link == "ikawrakow/ik_llama.cpp/pull/2072"]
    cases = [Case.parse(f"mul[{row}]") for row in ("a=3x65;b=0d;f32;layout=a:gapped", "a=3x65;b=0d;f32", "a=3;b=3;f16")]
    assert space.find_telling(bug, load("mul"), cases) == [str(cases[0])]
