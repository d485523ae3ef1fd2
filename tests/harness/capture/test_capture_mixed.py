"""Calls of several dtypes become cases of several dtypes; under autocast, cases of the dtype that is computed in."""

import pytest
import torch
from _runs import opproof

import opproof as library
from opproof.cases import _file
from opproof.reports import read_results

F = torch.nn.functional

#: An encoder as checkpoints hold it: matrices of bfloat16, norms and their weights of float32; a head under autocast.
PROGRAM = """
import torch

block = torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, norm_first=True, activation="gelu", dropout=0)
block = block.bfloat16()
block.norm1.float(), block.norm2.float()
head = torch.nn.Linear(32, 10)
h = block(torch.randn(2, 7, 32).bfloat16())
with torch.autocast("cpu", dtype=torch.bfloat16):
    y = head(h.float())
y.sum().backward()
"""

#: Norms whose weights are rounded to the activations' 16 bits before they are used.
ROUNDED = """
from opproof.backends.numpy import NumPy

mixed = True


def _rounded(op, inputs):
    return [x if x is None or op != "layer_norm" else x.astype(inputs[0].dtype).astype(x.dtype) for x in inputs]


def forward(op, inputs, params):
    return NumPy().forward(op, _rounded(op, inputs), params)


def vjp(op, inputs, params, cotangents, needs):
    return NumPy().vjp(op, _rounded(op, inputs), params, cotangents, needs)
"""


def ids_of(path):
    return {entry.id for entry in _file.read(path).case}


def test_a_program_is_captured_and_replayed(tmp_path, capsys):
    script, cases = tmp_path / "program.py", tmp_path / "cases.toml"
    script.write_text("import torch\ntorch.manual_seed(0)\n" + PROGRAM)
    assert opproof(capsys, "capture", "-o", cases, script)[0] == 0
    norm = "layer_norm[x=2x7x32;weight=32,;bias=32,;normalized_shape=(32);bf16;mixed=weight:f32,bias:f32"
    assert any(i.startswith(norm) for i in ids_of(cases))
    assert "linear[x=2x7x32;weight=10x32;bias=10,;bf16]" in ids_of(cases)
    assert "unmapped" not in cases.read_text()
    run = ("run", "--cases", cases, "--out", tmp_path / "out", "-j", "1", "-b")
    assert opproof(capsys, *run, "torch")[0] == 0
    passed = {(r.case.startswith(norm), r.mode) for r in read_results(tmp_path / "out")[1] if r.verdict == "PASS"}
    assert {(True, "forward"), (True, "gradient")} <= passed
    backend = tmp_path / "rounded.py"
    backend.write_text(ROUNDED)
    assert opproof(capsys, *run, backend)[0] == 1


NORM = "layer_norm[x=3x4;weight=4,;normalized_shape=(4)"


@pytest.mark.parametrize(
    ("program", "case"),
    [
        (lambda x, w: F.layer_norm(x.half(), (4,), w), f"{NORM};f16;mixed=weight:f32]"),
        (lambda x, w: torch.autocast("cpu")(F.layer_norm)(x.half(), (4,), w), f"{NORM};f16;mixed=weight:f32]"),
        (lambda x, w: x + w.bfloat16(), "add[a=3x4;b=4,;f32;mixed=b:bf16]"),
        (lambda x, w: torch.autocast("cpu")(F.linear)(x, w[None]), "linear[x=3x4;weight=1x4;bf16]"),
        (lambda x, w: torch.autocast("cpu")(F.linear)(x.bfloat16(), w[None]), "linear[x=3x4;weight=1x4;bf16]"),
    ],
)
def test_a_call(tmp_path, program, case):
    torch.manual_seed(1)
    with library.capture(tmp_path / "cases.toml"):
        program(torch.randn(3, 4), torch.randn(4))
    assert case in ids_of(tmp_path / "cases.toml")


def test_a_result_that_is_like_no_first_tensor_is_no_case_of_ours(tmp_path):
    """PyTorch promotes: bfloat16 and float32 give float32, and our results are like the first."""
    with library.capture(tmp_path / "cases.toml") as calls:
        torch.add(torch.randn(3, 4).bfloat16(), torch.randn(3, 4))
    assert (dict(calls.cases), dict(calls.unmapped)) == ({}, {"add": 1})
