"""A failing case shrinks to the smallest that fails alike."""

import numpy as np
import pytest
from _runs import completed

from opproof.cases import Case
from opproof.harness.space.shrink import is_valid, shrink
from opproof.reference_ops import load

BACKEND = """
from opproof.backends.numpy import create


def forward(op, inputs, params):
    (y,) = create().forward(op, inputs, params)
    if op == "softmax" and y.shape[-1] > 64 and not inputs[0].flags.c_contiguous:
        y[..., 64:] *= 2  # wrong past 64 columns when transposed
    if op == "matmul" and inputs[0].shape[-1] > 8:
        raise RuntimeError("no more than eight")
    return [y]
"""


def command(folder, case, *more):
    (folder / "bad.py").write_text(BACKEND, encoding="utf-8")
    return completed("shrink", case, "-b", "./bad.py", *more, cwd=folder)


def test_wrong_past_64_columns_when_transposed(tmp_path):
    done = command(tmp_path, "softmax[x=2x3x97;dim=-1;f16;fill=wide;layout=transposed;seed=3]")
    assert done.returncode == 0, done.stderr
    small = "softmax[x=2x65;dim=-1;f32;layout=transposed]"
    lines = done.stdout.splitlines()
    assert lines[0] == small
    assert "WRONG_VALUE (forward)" in lines[1]
    assert "worst: y[" in lines[2]
    assert "past 64" in done.stdout
    assert "candidates tried" in done.stdout
    assert lines[-1].strip() == f"opproof run -b ./bad.py --mode forward --case '{small}' --out opproof-repro"


def test_a_case_that_passes_is_one_sentence_and_exit_2(tmp_path):
    done = command(tmp_path, "softmax[x=4x33;dim=-1;f32]", "--mode", "forward")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "does not fail on ./bad.py" in done.stderr


def test_an_unknown_backend_is_one_sentence_and_exit_2(tmp_path):
    done = completed("shrink", "relu[x=4,;f32]", "-b", "nowhere", cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def shrunk(text, fails):
    case = Case.parse(text)
    return shrink(case, load(case.op), fails)


@pytest.mark.parametrize(
    ("case", "fails", "small"),
    [
        ("relu[x=5x7x9;bf16;fill=wide;layout=permuted;seed=7]", lambda c: True, "relu[x=0d;f32]"),
        ("relu[x=5x7;bf16;fill=kink]", lambda c: c.dtype == "bf16" and c.fill == "kink", "relu[x=0d;bf16;fill=kink]"),
        ("relu[x=5x200;f32]", lambda c: max(c.shapes["x"], default=0) > 128, "relu[x=129,;f32]"),
        (
            "matmul[a=2x9x64;b=64x5;f16;layout=a:transposed,b:sliced]",
            lambda c: "b:sliced" in c.layout and c.shapes["b"][0] >= 17,
            "matmul[a=17,;b=17,;f32;layout=b:sliced]",
        ),
        (
            "layer_norm[x=4x3x33;weight=33,;bias=33,;normalized_shape=(33);eps=0.1;f32]",
            lambda c: "weight" in c.shapes and c.shapes["x"][-1] >= 6,
            "layer_norm[x=6,;weight=6,;normalized_shape=(6);f32]",
        ),
        (
            "conv2d[x=2x4x9x9;weight=8x2x3x3;bias=8,;stride=(2,3);padding=1;groups=2;f32]",
            lambda c: c.kwargs.get("stride", 1) != 1 and c.kwargs.get("groups", 1) > 1,
            None,
        ),
    ],
)
def test_reaches_the_smallest(case, fails, small):
    found = shrunk(case, fails)
    assert fails(found.case)
    assert 0 < found.tried <= 200
    if small:
        assert str(found.case) == small
    else:
        assert sum(int(np.prod(s)) for s in found.case.shapes.values()) <= 8
        assert {name: len(s) for name, s in found.case.shapes.items()} == {"x": 4, "weight": 4}


def test_every_candidate_is_a_case_of_the_operator():
    case = Case.parse("conv2d[x=2x3x9x6;weight=5x3x3x2;bias=5,;stride=(2,1);padding=(1,0);f32]")
    op, tried = load("conv2d"), []

    def fails(candidate):
        tried.append(candidate)
        return len(tried) % 3 == 0

    found = shrink(case, op, fails)
    assert all(is_valid(c, op) for c in tried)
    assert found.tried == len(tried) == len(set(tried))


def test_what_does_not_get_smaller_stays():
    found = shrunk("relu[x=3,;f32]", lambda c: False)
    assert str(found.case) == "relu[x=3,;f32]"
    assert found.tried > 0
