"""Every operator has a case for every rule that applies to it, and docs/coverage.md says so."""

import importlib.util
from pathlib import Path

import pytest

from opproof.cases import Case, cases_of
from opproof.harness.prove.coverage.rules import RULES
from opproof.reference_ops import load, names

GENERATE = Path(__file__).parent.parent / "docs" / "generate.py"


def rule(name):
    return next(r for r in RULES if r.name == name)


@pytest.mark.parametrize("name", names())
def test_no_applicable_rule_is_missed(name):
    op, cases = load(name), {level: cases_of(name, level) for level in ("standard", "full")}
    missed = {r.name: found for r in RULES if (found := r.missing(op, cases[r.level]))}
    assert not missed


def test_every_rule_applies_to_some_operator():
    assert all(any(r.applies(load(n)) for n in names()) for r in RULES)


@pytest.mark.parametrize("name", [r.name for r in RULES])
def test_every_rule_can_be_missed(name):
    """Without the cases that meet it, an operator misses the rule."""
    found = rule(name)
    op = next(load(n) for n in names() if found.applies(load(n)))
    assert found.missing(op, [c for c in cases_of(op.name, found.level) if not found.matches(c, op)])


@pytest.mark.parametrize(
    ("name", "case", "met"),
    [
        ("63-66", "relu[x=3x65;f32]", True),
        ("63-66", "relu[x=3x62;f32]", False),
        ("transposed", "relu[x=3x65;f32;layout=transposed]", True),
        ("transposed", "relu[x=65,;f32;layout=transposed]", False),  # a vector cannot be
        ("stride 0", "relu[x=1x65;f32;layout=broadcast]", False),
        ("one strided", "add[a=3x4;b=3x4;f32;layout=a:sliced]", True),
        ("one strided", "add[a=3x4;b=3x4;f32;layout=sliced]", False),
        ("leading", "softmax[x=2x3x4;dim=-1;f32]", True),
        ("leading", "softmax[x=3x3x4;dim=-1;f32]", False),
        ("Hq, Hk", "scaled_dot_product_attention[query=2x4x3x5;key=2x2x3x5;value=2x2x3x5;enable_gqa=true;f32]", True),
        ("Hq, Hk", "scaled_dot_product_attention[query=2x4x3x5;key=2x4x3x5;value=2x4x3x5;f32]", False),
        ("groups", "conv1d[x=1x4x9;weight=2x2x3;groups=2;stride=2;f32]", True),
        ("groups", "conv1d[x=1x4x8;weight=2x2x3;groups=2;stride=2;f32]", False),
        ("groups", "conv1d[x=1x4x9;weight=2x2x3;groups=2;f32]", False),
        ("remainder", "conv1d[x=1x4x9;weight=2x4x3;stride=4;f32]", True),
        ("remainder", "conv1d[x=1x4x9;weight=2x4x3;stride=3;f32]", False),
        ("permutation", "permute[x=2x3x4;dims=(2,0,1);f32]", True),
        ("permutation", "permute[x=2x3x4;dims=(1,0,2);f32]", False),
        ("resize", "upsample_nearest[x=1x1x4x4;size=(6,8);f32]", True),
        ("resize", "upsample_nearest[x=1x1x4x4;size=(8,8);f32]", False),
        ("16-bit sums", "sum[x=1x1031;dim=-1;f16]", True),
        ("16-bit sums", "sum[x=1x1031;dim=-1;f32]", False),
        ("partial, strided", "rope[x=1x2x1x8;positions=2,;n_dims=4;f32;layout=transposed]", False),  # one head
        ("partial, strided", "rope[x=1x2x3x8;positions=2,;n_dims=4;f32;layout=transposed]", True),
        ("pads", "pad[x=2x3;pad=(1,2);f32]", True),
        ("pads", "pad[x=2x3;pad=(1,1);f32]", False),
    ],
)
def test_predicates(name, case, met):
    parsed = Case.parse(case)
    assert rule(name).matches(parsed, load(parsed.op)) is met


def test_a_missing_row_is_named():
    op = load("add")
    without = [c for c in cases_of("add") if "b:sliced" not in c.layout and c.layout != "sliced"]
    assert rule("sliced").missing(op, without) == ["b"]


def test_the_page_is_up_to_date():
    spec = importlib.util.spec_from_file_location("generate", GENERATE)
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    page = GENERATE.with_name("coverage.md")
    assert page.read_text(encoding="utf-8") == generate.coverage_page(), "run `python docs/generate.py`"
