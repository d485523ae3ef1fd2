"""An ONNX model's cases by shape inference: what it holds, with which shapes, how often; what is none of ours."""

from __future__ import annotations

from pathlib import Path

import pytest
from _runs import opproof

onnx = pytest.importorskip("onnx", reason="ONNX models need pip onnx")
from onnx import TensorProto, helper  # noqa: E402

from opproof.cases import Case, _file  # noqa: E402

LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
FLOAT, HALF, INT64 = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT64


def test_resnet_50_of_the_onnx_package(tmp_path, capsys):
    """53 convolutions and a matrix; 3.8e9 multiplications with their additions, as its paper counts them."""
    status, out, _ = opproof(capsys, "capture", LIGHT / "light_resnet50.onnx", "-o", tmp_path / "resnet.toml")
    assert status == 0
    assert "not operators of opproof" not in out
    entries = _file.read(tmp_path / "resnet.toml").case
    convolutions = [e for e in entries if e.id.startswith("conv2d[")]
    assert sum(e.calls for e in convolutions) == 53
    assert "conv2d[x=1x3x224x224;weight=64x3x7x7;stride=2;padding=3;f32]" in {e.id for e in convolutions}
    assert 7.6e9 < sum(e.flops for e in entries) < 8.3e9


def model(nodes, inputs, outputs, initializers=(), opset=21):
    graph = helper.make_graph(nodes, "model", inputs, outputs, [*initializers])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def attention():
    """Heads split by a shape that is worked out from the input's, in float16, and a node that is none of ours."""
    weight = helper.make_tensor("w", HALF, (64, 64), bytes(2 * 64 * 64), raw=True)
    eight = helper.make_tensor("eight", INT64, (1,), [8])
    rest = helper.make_tensor("rest", INT64, (1,), [-1])
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["q"]),
        helper.make_node("Shape", ["x"], ["lead"], start=0, end=2),
        helper.make_node("Concat", ["lead", "eight", "rest"], ["shape"], axis=0),
        helper.make_node("Reshape", ["q", "shape"], ["heads"]),
        helper.make_node("Transpose", ["heads"], ["turned"], perm=[0, 2, 1, 3]),
        helper.make_node("Softmax", ["turned"], ["y"], axis=-1),
        helper.make_node("MelWeightMatrix", ["y"], ["z"]),
    ]
    x = helper.make_tensor_value_info("x", HALF, ("batch", "tokens", 64))
    y = helper.make_tensor_value_info("y", HALF, None)
    return model(nodes, [x], [y], [weight, eight, rest])


def test_axes_without_length_and_shapes_that_are_worked_out(tmp_path, capsys):
    onnx.save(attention(), tmp_path / "m.onnx")
    given = ("--dim", "batch=2", "--dim", "tokens=5")
    status, out, _ = opproof(capsys, "capture", tmp_path / "m.onnx", *given, "-o", tmp_path / "c.toml")
    assert status == 0
    assert "not operators of opproof, or not as they were called: MelWeightMatrix (1)" in out
    assert {e.id for e in _file.read(tmp_path / "c.toml").case} == {
        "matmul[a=2x5x64;b=64x64;f16]",
        "permute[x=2x5x8x8;dims=(0,2,1,3);f16]",
        "softmax[x=2x8x5x8;dim=-1;f16]",
    }
    _, out, _ = opproof(capsys, "capture", tmp_path / "m.onnx", "-o", tmp_path / "one.toml")
    assert "taken to be 1 long, for want of --dim: batch, tokens" in out
    ids = [Case.parse(e.id) for e in _file.read(tmp_path / "one.toml").case]
    assert {c.shapes["x"] for c in ids if c.op == "softmax"} == {(1, 8, 1, 8)}


def test_the_cases_run(tmp_path, capsys):
    onnx.save(attention(), tmp_path / "m.onnx")
    opproof(capsys, "capture", tmp_path / "m.onnx", "--dim", "tokens=9", "-o", tmp_path / "c.toml")
    status, out, _ = opproof(
        capsys, "run", "-b", "numpy", "--cases", tmp_path / "c.toml", "--out", tmp_path / "out", "--quiet"
    )
    assert status == 0, out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none.onnx",), "no model none.onnx: expected an ONNX file."),
        (("broken.onnx",), "broken.onnx is no ONNX model: "),
        (("m.onnx", "--dim", "batsch=2"), "m.onnx has no axis 'batsch': expected one of batch, tokens."),
        (("m.onnx", "--dim", "batch"), "--dim 'batch': expected NAME=N, as in --dim batch=8."),
        (("m.onnx", "--data"), "--data is for a program"),
        (("--dim", "batch=2", "program.py"), "--dim is for an ONNX model"),
        (("m.onnx", "-o", "none/c.toml"), "none/c.toml cannot be written: there is no folder"),
    ],
)
def test_bad_input(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    onnx.save(attention(), "m.onnx")
    Path("broken.onnx").write_bytes(b"\x08 no model")
    Path("program.py").write_text("", encoding="utf-8")
    status, _, err = opproof(capsys, "capture", "-o", "c.toml", *arguments)
    assert status == 2
    assert message in err
    assert err.count("\n") == 1
