"""The levels that a failing case needs are named, and no others."""

import json

import pytest
from _runs import completed

from opproof.cases import Case
from opproof.cases._layouts import layouts_of
from opproof.harness.space import delta as deltas
from opproof.harness.space.delta import find_delta
from opproof.reference_ops import load


def said(text, fails):
    case = Case.parse(text)
    return str(find_delta(case, load(case.op), fails))


def test_a_multiple_of_a_block_from_a_size_on():
    found = said(
        "softmax[x=9x1536;dim=-1;bf16;layout=transposed]",
        lambda c: c.shapes["x"][-1] > 1024 and c.shapes["x"][-1] % 256 == 0,
    )
    assert found == "fails where axis -1 of x is a multiple of 256 from 1280 on; passes at 1281"


def test_a_dtype_and_a_layout():
    found = said(
        "softmax[x=9x1536;dim=-1;bf16;layout=transposed]",
        lambda c: c.dtype == "bf16" and layouts_of(c)["x"] == "transposed",
    )
    assert found == "fails where the dtype is bf16 and x is transposed; passes in f32, with x contiguous"


def test_one_axis_of_square_matrices():
    found = said("matmul[a=64x64;b=64x64;f16;fill=wide]", lambda c: c.shapes["a"][-2] >= 33 and c.fill == "wide")
    assert found == "fails where fill=wide and axis -2 of a is 33 or more; passes with fill=normal, at 32"


def test_two_axes():
    found = said("argsort[x=256x1025;dim=-1;f32]", lambda c: c.shapes["x"][-1] > 1024 and c.shapes["x"][0] % 256 == 0)
    assert found == (
        "fails where axis -1 of x is 1025 or more and axis -2 of x is a multiple of 256; passes at 1024, at 257"
    )


def test_no_multiple_of_a_tile():
    found = said("add[a=7x33;b=33,;f32]", lambda c: c.shapes["a"][-1] % 16 != 0)
    assert found == "fails where axis -1 of a is no multiple of 16; passes at 16"


def test_a_parameter_and_a_power_of_two():
    found = said(
        "l2_norm[x=9x65;dim=-1;eps=512.0;f16]", lambda c: c.shapes["x"][-1] >= 64 and c.kwargs.get("eps") == 512.0
    )
    assert found == "fails where eps=512.0 and axis -1 of x is 64 or more; passes with eps=1e-12, at 63"


def test_a_tensor_that_may_be_left_out():
    found = said("layer_norm[x=5x33;weight=33,;bias=33,;normalized_shape=(33);f32]", lambda c: "bias" in c.shapes)
    assert found == "fails where bias is given; passes without bias"


def test_a_destination():
    assert said("relu[x=17x19;f32;fill=special;into=transposed]", lambda c: c.into == "transposed") == (
        "fails where the result is transposed; passes with a contiguous result"
    )


def test_what_always_fails_needs_nothing():
    assert said("relu[x=17x19;bf16;fill=special]", lambda c: True) == (
        "fails in its plainest form too, relu[x=3x3;f32]"
    )


def test_an_error_that_grows_has_no_edge():
    found = said("sum[x=6x1031;dim=-1;bf16]", lambda c: c.shapes["x"][-1] >= 217)
    assert found == "fails where axis -1 of x is long; passes at 3"


def test_what_passes_by_chance_is_not_named():
    """With other numbers the neighbour in f32 fails too."""
    found = said("relu[x=17x19;bf16]", lambda c: c.dtype == "bf16" or c.seed == 1)
    assert found == "fails in its plainest form too, relu[x=3x3;bf16]"


def test_a_neighbour_of_which_nothing_is_known_is_not_named():
    found = said("relu[x=17x19;bf16]", lambda c: True if c.dtype == "bf16" else None)
    assert found == "fails in its plainest form too, relu[x=3x3;bf16]"


def test_few_calls_are_made(monkeypatch):
    monkeypatch.setattr(deltas, "MAX_CALLS", 4)
    asked = []
    assert said("softmax[x=9x1536;dim=-1;bf16;layout=transposed]", asked.append) == "None"
    assert len(asked) == 4


BACKEND = """
import time

from opproof.backends.numpy import create


def forward(op, inputs, params):
    (y,) = create().forward(op, inputs, params)
    if op == "softmax" and y.shape[-1] > 64 and not inputs[0].flags.c_contiguous:
        y[..., 64:] *= 2
    if op == "relu":
        time.sleep(100)
    return [y]
"""


@pytest.mark.parametrize(
    ("case", "delta"),
    [
        (
            "softmax[x=2x3x97;dim=-1;f16;fill=wide;layout=transposed]",
            "fails where x is transposed and axis -1 of x is 65 or more; passes with x contiguous, at 64",
        ),
        ("relu[x=7x9;bf16]", ""),  # a TIMEOUT: its neighbours would take as long
    ],
)
def test_a_run_says_it_first_of_a_cause(tmp_path, case, delta):
    (tmp_path / "bad.py").write_text(BACKEND, encoding="utf-8")
    call = ("run", "-b", "./bad.py", "--case", case, "--mode", "forward", "--timeout", "2", "--out", "report")
    done = completed(*call, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    heading = next(i for i, line in enumerate(lines) if ": 1 record, " in line)
    assert (lines[heading + 1].strip() == delta) is bool(delta)
    record = json.loads((tmp_path / "report" / "results.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    assert record["delta"] == delta
    for name in ("report.md", "report.html"):
        assert (delta.replace("_", "\\_") in (tmp_path / "report" / name).read_text(encoding="utf-8")) or not delta


def test_a_tensor_that_another_one_is_again_stays():
    """Without it the other would be nothing."""
    case = "layer_norm[x=5x33;weight=33,;bias=@weight;normalized_shape=(33);f32]"
    found = said(case, lambda c: dict(c.tensors).get("bias") == "weight")
    assert found == "fails where bias is weight; passes with bias apart"
