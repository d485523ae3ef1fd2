"""An ONNX model followed on a backend: weights, views, shapes worked out, nodes that are none of ours."""

import re

import numpy as np
import pytest
from _runs import opproof

onnx = pytest.importorskip("onnx", reason="ONNX models need pip onnx")
pytest.importorskip("torch")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from opproof.core.errors import UsageError  # noqa: E402
from opproof.reference_ops._tape import Replay  # noqa: E402
from opproof.reference_ops._taped_graphs import NotExpressible, express_whole  # noqa: E402
from opproof.reference_ops.onnx.model import trace_model, trace_nodes  # noqa: E402


def weight(name, *shape, seed=0):
    values = np.random.default_rng(seed).standard_normal(shape).astype(np.float32) / 4
    return numpy_helper.from_array(values, name)


def model(nodes, weights, shape=("batch", 5, 16)):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([helper.make_node(*n[:3], **n[3], name=n[4]) for n in nodes], "m", [x], [y], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])


def perceptron(more=()):
    """A gated perceptron between a norm and a softmax, its width worked out from a shape."""
    nodes = [
        ("LayerNormalization", ["x", "scale", "bias"], ["normed"], {"axis": -1}, "/norm"),
        ("MatMul", ["normed", "w1"], ["up"], {}, "/up"),
        ("Shape", ["up"], ["shape"], {}, "/shape"),
        ("Reshape", ["up", "shape"], ["same"], {}, "/reshape"),
        ("Split", ["same"], ["a", "b"], {"axis": -1, "num_outputs": 2}, "/split"),
        ("Sigmoid", ["a"], ["gate"], {}, "/gate"),
        ("Mul", ["gate", "b"], ["gated"], {}, "/mul"),
        ("MatMul", ["gated", "w2"], ["down"], {}, "/down"),
        *more,
        ("Softmax", ["down"], ["y"], {"axis": -1}, "/softmax"),
    ]
    ones = numpy_helper.from_array(np.ones(16, np.float32), "scale")
    return model(nodes, [ones, weight("bias", 16), weight("w1", 16, 64, seed=1), weight("w2", 32, 16, seed=2)])


def test_a_model_is_followed_and_its_wrong_node_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    onnx.save(perceptron(), "m.onnx")
    status, out, err = opproof(capsys, "drift", "m.onnx", "-b", "onnxruntime")
    assert status == 0
    assert err == "taken to be 1 long, for want of --dim: batch\n"
    assert out.startswith("m.onnx on onnxruntime: 7 calls of operators\n")
    assert "No operator is wrong. The output is off by " in out
    (tmp_path / "mine.py").write_text(
        "from opproof.backends.load import load_backend\n\nhonest = load_backend('onnxruntime')\n\n\n"
        "def forward(op, inputs, params):\n    results = honest.forward(op, inputs, params)\n"
        "    return [-y for y in results] if op == 'sigmoid' else results\n",
        encoding="utf-8",
    )
    status, out, err = opproof(capsys, "drift", "m.onnx", "-b", "./mine.py", "--dim", "batch=3")
    assert (status, err) == (1, "")
    assert re.search(r"^sigmoid in /gate is wrong by its own inputs \(WRONG_VALUE, .* sign", out, re.MULTILINE), out


def test_a_node_that_is_no_operator_of_ours_is_computed_by_the_onnx_package(tmp_path, capsys):
    made = perceptron()
    made.graph.node[-1].input[0] = "kept"
    made.graph.node.insert(8, helper.make_node("Einsum", ["down"], ["kept"], name="/odd", equation="bij->bij"))
    onnx.save(made, tmp_path / "m.onnx")
    status, out, _ = opproof(capsys, "drift", tmp_path / "m.onnx", "-b", "numpy")
    assert status == 0
    assert "No operators of opproof, which numpy is not asked for: Einsum (1)." in out


def test_the_tape_gives_what_onnx_gives():
    made, x = perceptron(), np.random.default_rng(5).standard_normal((2, 5, 16)).astype(np.float32)
    tape = trace_nodes(made, [x], "m")
    replay = Replay(tape, wide=True)
    for call in tape.calls:
        replay.advance(call)
    (wanted,) = onnx.reference.ReferenceEvaluator(made).run(None, {"x": x})
    np.testing.assert_allclose(replay.results[0].numpy(), wanted, rtol=1e-5, atol=1e-6)


def test_a_node_that_nothing_computes():
    made = perceptron()
    made.graph.node[-1].op_type = "Softmaxx"
    with pytest.raises(UsageError, match=r"m: the node /softmax \(Softmaxx\) is computed neither by operators of "):
        trace_nodes(made, [np.zeros((1, 5, 16), np.float32)], "m")


def test_what_converts_to_the_dtype_that_is_there_is_no_call():
    made = perceptron()
    made.graph.node[-1].input[0] = "kept"
    made.graph.node.insert(8, helper.make_node("CastLike", ["down", "scale"], ["alike"], name="/alike"))
    made.graph.node.insert(9, helper.make_node("Cast", ["alike"], ["kept"], name="/cast", to=TensorProto.FLOAT))
    tape = trace_nodes(made, [np.ones((1, 5, 16), np.float32)], "m")
    assert [call.name for call in tape.calls if call.place in ("/alike", "/cast")] == []
    assert not tape.others


def test_a_model_that_rounds_in_between_is_no_graph():
    made = perceptron()
    made.graph.node[-1].input[0] = "kept"
    made.graph.node.insert(8, helper.make_node("Cast", ["down"], ["half"], name="/half", to=TensorProto.FLOAT16))
    made.graph.node.insert(9, helper.make_node("Cast", ["half"], ["kept"], name="/cast", to=TensorProto.FLOAT))
    tape = trace_nodes(made, [np.ones((1, 5, 16), np.float32)], "m")
    with pytest.raises(NotExpressible, match="a conversion to another dtype of floats, which rounds in between"):
        express_whole(tape)


@pytest.mark.parametrize("shape", [(2, 5, 1, 1), (2, 5, 3, 1)])
def test_a_softmax_of_an_older_opset_joins_its_axes(tmp_path, shape):
    nodes = [("Exp", ["x"], ["e"], {}, "/exp"), ("Softmax", ["e"], ["y"], {}, "/softmax")]
    made = model(nodes, [], shape)
    made.opset_import[0].version, made.ir_version = 11, 7
    onnx.save(made, tmp_path / "m.onnx")
    tape, _ = trace_model(tmp_path / "m.onnx", {}, 0)
    replay = Replay(tape)
    for call in tape.calls:
        replay.advance(call)
    assert not tape.others
    np.testing.assert_allclose(replay.results[0].numpy().sum(axis=(1, 2, 3)), 1, rtol=1e-5)
