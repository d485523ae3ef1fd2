"""Bugs that projects shipped are found by a case that the standard level has; all else of their backends is right."""

import importlib
import json
import sys
from pathlib import Path

import pytest
from _ask import judged

from opproof.cases import cases_of
from opproof.reference_ops import names

SHIPPED = Path(__file__).parents[2] / "benchmarks" / "shipped"
FAMILIES = sorted(p.stem for p in SHIPPED.glob("*.py") if p.stem not in ("not_shown", "bug", "memory"))
sys.path.insert(0, str(SHIPPED))
BUGS = [bug for family in FAMILIES for bug in importlib.import_module(family).BUGS]
APART = importlib.import_module("not_shown")
Shipped = importlib.import_module("bug").Shipped
sys.path.remove(str(SHIPPED))

#: An operator, a part of its thread, the inside of a case of standard level, and the verdict.
ASKED = (
    ("cumsum", "mlx/pull/4139", "x=4x1;dim=-1;f32;layout=x:transposed", "WRONG_VALUE"),
    ("cumsum", "issues/184844", "x=3x2x2x3x2;dim=0;f32;layout=cropped", "ERROR"),
    ("cumsum", "pull/1095", "x=5x1031;dim=-1;f32;fill=spread", "WRONG_GRADIENT"),
    ("mul", "pull/2072", "a=3x65;b=0d;f32;layout=a:gapped", "WRONG_VALUE"),
    ("matmul", "issues/171034", "a=33x3;b=3x17;bf16;fill=special", "WRONG_VALUE"),
    ("scaled_dot_product_attention", "pull/4401",
     "query=2x4x3x16;key=2x2x37x16;value=2x2x37x16;enable_gqa=true;f32;fill=opposed", "WRONG_VALUE"),
    ("scaled_dot_product_attention", "pull/6438",
     "query=2x4x3x32;key=2x2x257x32;value=2x2x257x32;keep=2x1x3x257;enable_gqa=true;f32;fill=padded", "WRONG_VALUE"),
    ("im2col", "issues/1532", "x=1x349x1x7;kernel_size=(1,3);f32", "WRONG_VALUE"),
    ("scale", "imp/pull/808", "x=6x33;s=0.0625;f16;fill=small", "WRONG_VALUE"),
    ("log_softmax", "issues/40409", "x=2x70001;dim=-1;f16;layout=cotangent:expanded;seed=3", "WRONG_GRADIENT"),
    ("argmax", "cupynumeric", "x=9x33;dim=-1;u8;fill=alone", "WRONG_VALUE"),
    ("amax", "xla/issues/5544", "x=11x8209;dim=-1;f32;fill=alone", "WRONG_VALUE"),
    ("remainder", "torch-mojo", "a=9x33;b=9x33;bf16;fill=limits", "WRONG_VALUE"),
    ("linear", "drjit", "x=16x64;weight=2x64;f16;layout=sliced", "WRONG_VALUE"),
    ("conv2d", "issues/4693", "x=1x5x1x1;weight=3x5x3x3;padding=(1,1);f32;layout=channels", "WRONG_GRADIENT"),
    ("avg_pool1d", "issues/143720", "x=1x1x1;kernel_size=3;padding=1;stride=1;f32", "WRONG_VALUE"),
    ("dequantize_linear", "oneDNN/issues/2213",
     "data=2x3x17x5;scale=0d;zero_point=0d;type=u8;f32;layout=planes", "WRONG_VALUE"),
    ("sum", "openvino/pull/33161", "x=2x3x4x2x5;dim=-1;f32;layout=planes", "WRONG_SHAPE"),
    ("amin", "xla/issues/7112", "x=1x16389;dim=-1;f16", "WRONG_VALUE"),
    ("add", "MIOpen", "a=2x5x3x4;b=5x1x1;f32;layout=a:channels", "WRONG_VALUE"),
    ("matmul", "cutlass", "a=128x8;b=8x128;f32", "WRONG_VALUE"),
    ("cumprod", "issues/183250", "x=2x16387;dim=-1;f32;fill=signs", "ERROR"),
    ("scaled_dot_product_attention", "issues/2541",
     "query=1x2x5x256;key=1x2x7x256;value=1x2x7x256;f16;layout=gapped", "WRONG_GRADIENT"),
    ("softmax", "rvllm", "x=5x31;dim=0;f32;fill=wide", "PASS"),
    ("avg_pool2d", "issues/198119", "x=1x1x7x7;kernel_size=3;stride=2;f32", "PASS"),
    ("permute", "pull/1676", "x=2x3x4;dims=(2,0,1);f32", "WRONG_GRADIENT"),
)  # fmt: skip


def _bug(op, thread):
    (found,) = [bug for bug in BUGS if bug.op == op and thread in bug.link]
    return found


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # wrong formulas overflow
@pytest.mark.parametrize(("op", "thread", "case", "verdict"), ASKED)
def test_it_is_found(op, thread, case, verdict):
    bug = _bug(op, thread)
    assert judged(Shipped(bug=bug), f"{op}[{case}]", bug.mode).verdict == verdict


@pytest.mark.parametrize(("op", "thread", "case", "verdict"), ASKED)
def test_the_cases_that_find_them_are_of_standard_level(op, thread, case, verdict):
    listed = {str(known) for known in cases_of(op)}
    assert verdict == "PASS" or op == "permute" or f"{op}[{case}]" in listed


def test_elsewhere_the_backend_is_right():
    bug = _bug("mul", "pull/2072")
    assert judged(Shipped(bug=bug), "mul[a=3x65;b=0d;f32]").verdict == "PASS"
    assert judged(Shipped(bug=bug), "mul[a=3x65;b=0d;f32;layout=a:gapped]", "gradient").verdict == "PASS"
    assert judged(Shipped(bug=bug), "add[a=3x65;b=0d;f32;layout=a:gapped]").verdict == "PASS"


def test_every_row_names_an_operator_and_a_thread():
    listed = [*BUGS, *APART.APART]
    assert {bug.op for bug in listed} <= set(names())
    assert all(bug.link.split("/")[2] in ("issues", "pull") and bug.link.count("/") == 3 for bug in listed)
    threads = {(bug.op, bug.link) for bug in BUGS}
    assert APART.MENDED | set(APART.MISSED) <= threads


def test_the_page_has_every_bug():
    """Whoever adds one runs `python benchmarks/shipped.py --json docs/data/shipped.json`."""
    data = json.loads((SHIPPED.parents[1] / "docs" / "data" / "shipped.json").read_text(encoding="utf-8"))
    asked = [
        (bug["operator"], bug["what"], bug["mode"], ",".join(bug["dtypes"]), bug["thread"]) for bug in data["found"]
    ]
    assert sorted(asked) == sorted((bug.op, bug.what, bug.mode, bug.dtypes, bug.link) for bug in BUGS)
    told = [(bug["operator"], bug["what"], bug["why"], bug["thread"]) for bug in data["not_asked"]]
    assert told == [(bug.op, bug.what, bug.why, bug.link) for bug in APART.APART]
    missed = {(bug["operator"], bug["thread"]): bug["why"] for bug in data["missed"]}
    assert missed == {bug: APART.MISSED[bug] for bug in missed}
