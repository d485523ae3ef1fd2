"""A model kept as graphs: what libraries fuse, and the whole of it, each asked of a backend in one call."""

import re

import numpy as np
import pytest
from _runs import opproof

torch = pytest.importorskip("torch")

from opproof.cases import Case, _file  # noqa: E402
from opproof.core.errors import OpError  # noqa: E402
from opproof.core.graph import parse_graph  # noqa: E402
from opproof.harness.capture.captured import case_of_graph  # noqa: E402
from opproof.harness.capture.program import trace_program  # noqa: E402
from opproof.reference_ops import load  # noqa: E402
from opproof.reference_ops._taped_graphs import (  # noqa: E402
    NotExpressible,
    express_neighbourhoods,
    express_whole,
)

HEAD = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F\n\ntorch.manual_seed(0)\n"
RESIDUAL = (
    HEAD
    + """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(4), nn.Linear(4, 6), nn.Linear(6, 4)

    def forward(self, x):
        for _ in range(2):
            x = x + self.down(F.relu(self.up(self.norm(x)), inplace=True))
        return x


Model()(torch.randn(3, 4))
"""
)


def taped(tmp_path, text):
    path = tmp_path / "program.py"
    path.write_text(text, encoding="utf-8")
    return trace_program(path, [])


def test_neighbourhoods_and_the_whole(tmp_path):
    tape = taped(tmp_path, RESIDUAL)
    block = "add(x0,linear(relu(linear(layer_norm(x0,x1,x2,normalized_shape=(4,)),x3,x4)),x5,x6))"
    shapes = "x0=3x4;x1=4,;x2=4,;x3=6x4;x4=6,;x5=4x6;x6=4,;f32"
    assert {str(case_of_graph(g)) for g in express_neighbourhoods(tape)} == {f"graph:{block}[{shapes}]"}
    graph = express_whole(tape)
    case = case_of_graph(graph)
    assert case.op == (
        f"graph:add((t0:={block}),linear(relu(linear(layer_norm(t0,x1,x2,normalized_shape=(4,)),x3,x4)),x5,x6))"
    )
    assert parse_graph(load(case.op).expression).operators == {"add", "linear", "relu", "layer_norm"}
    wanted = load(case.op).forward(*(np.asarray(t.double()) for t in graph.tensors.values()))
    np.testing.assert_allclose(wanted, run_again(tape), rtol=1e-5, atol=1e-6)


def run_again(tape):
    from opproof.reference_ops._tape import Replay

    replay = Replay(tape, wide=True)
    for call in tape.calls:
        replay.advance(call)
    return replay.results[0].detach().numpy()


@pytest.mark.parametrize(
    ("move", "text"),
    [
        ("x.reshape(4, 3)", "reshape(exp(x0),shape=(4,3))"),
        ("x.t()", "permute(exp(x0),dims=(1,0))"),
        ("x[1:3]", "slice(exp(x0),dim=0,start=1,end=3)"),
        ("x[:, 2]", "reshape(slice(exp(x0),dim=1,start=2,end=3),shape=(3,))"),
        ("x.unsqueeze(1).expand(3, 2, 4)", "expand(reshape(exp(x0),shape=(3,1,4)),shape=(3,2,4))"),
        ("x.chunk(2, -1)[1]", "slice(exp(x0),dim=1,start=2,end=4)"),
        ("x.contiguous()", "exp(x0)"),
    ],
)
def test_what_moves_elements_is_the_operator_that_moves_them_so(tmp_path, move, text):
    graph = express_whole(taped(tmp_path, f"{HEAD}x = torch.exp(torch.randn(3, 4))\ny = torch.tanh({move})"))
    assert graph.text == f"graph:tanh({text})"


def test_a_second_output_and_a_number(tmp_path):
    graph = express_whole(taped(tmp_path, f"{HEAD}v = torch.topk(torch.randn(3, 4), 2)\ny = torch.exp(v.values) * 2.5"))
    assert str(case_of_graph(graph)) == "graph:mul(exp(topk(x0,k=2).y),x1)[x0=3x4;x1=0d;f32]"
    assert float(graph.tensors["x1"]) == 2.5


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("torch.tanh(torch.special.bessel_j0(torch.exp(x)))", "special_bessel_j0 is no operator, nor does it move"),
        ("torch.tanh(torch.exp(x).double())", "double is no operator, nor does it move elements as one"),
    ],
)
def test_a_whole_that_is_no_graph(tmp_path, line, reason):
    with pytest.raises(NotExpressible, match=re.escape(reason)):
        express_whole(taped(tmp_path, f"{HEAD}x = torch.randn(3, 4)\ny = {line}"))


def test_a_fused_backend_is_asked_for_them_and_found_wrong(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text(RESIDUAL, encoding="utf-8")
    status, out, _ = opproof(capsys, "capture", "program.py", "-o", "c.toml", "--graphs", "--data")
    assert status == 0
    ids = [e.id for e in _file.read(tmp_path / "c.toml").case]
    graphs = [Case.parse(i) for i in ids if i.startswith("graph:")]
    assert len(graphs) == 2
    assert all(case.fill.startswith("file:c.safetensors#") for case in graphs)
    run = ("run", "--cases", "c.toml", "-k", "graph", "--quiet", "--mode", "forward")
    assert opproof(capsys, *run, "-b", "numpy", "-b", "torch", "--out", "a")[0] == 0
    (tmp_path / "fused.py").write_text(
        "from opproof.backends.load import load_backend\n\nhonest = load_backend('onnxruntime')\n\n\n"
        "def forward(op, inputs, params):\n    return honest.forward(op.replace('relu(', 'neg(', 1), inputs, params)\n",
        encoding="utf-8",
    )
    status, out, _ = opproof(capsys, *run, "-b", "./fused.py", "--out", "b")
    assert status == 1
    assert "WRONG_VALUE 2" in out


def test_a_program_that_draws_is_kept_as_no_graph(tmp_path, capsys):
    (tmp_path / "p.py").write_text(f"{HEAD}F.dropout(torch.exp(torch.ones(9)))", encoding="utf-8")
    status, _, err = opproof(capsys, "capture", tmp_path / "p.py", "-o", tmp_path / "c.toml", "--graphs")
    assert status == 2
    assert "p.py: dropout draws numbers, which are others at each call: use the model's eval()." in err


def test_a_whole_that_is_no_graph_is_said(tmp_path, capsys):
    (tmp_path / "p.py").write_text(
        f"{HEAD}torch.tanh(torch.special.bessel_j0(torch.exp(torch.ones(9))))", encoding="utf-8"
    )
    status, out, _ = opproof(capsys, "capture", tmp_path / "p.py", "-o", tmp_path / "c.toml", "--graphs")
    assert status == 0
    assert "the whole is no graph: special_bessel_j0 is no operator, nor does it move elements as one" in out


def test_names_in_an_expression():
    graph = parse_graph("graph:add((h:=relu(x)),mul(h,h))")
    assert [node.op for node in graph.nodes] == ["relu", "mul", "add"]
    assert graph.tensors == ("x",)
    assert graph.nodes[2].operands == ((0, 0), (1, 0))
    for text, name in (("graph:add(h,(h:=relu(x)))", "h"), ("graph:add((h:=relu(x)),(h:=exp(x)))", "h")):
        with pytest.raises(OpError, match=f"{name} is something else before it is named"):
            parse_graph(text)
