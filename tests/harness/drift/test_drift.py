"""A model followed on a backend: what is wrong is told from what the model amplifies, and where it stands."""

import json
import re

import numpy as np
import pytest
from _runs import opproof

torch = pytest.importorskip("torch")

from opproof.core.verdicts import Verdict  # noqa: E402
from opproof.harness.capture.program import trace_program  # noqa: E402
from opproof.reference_ops._tape import Replay, measure_effects, measure_noise  # noqa: E402
from opproof.reports.drift import DriftReport, FollowedCall  # noqa: E402

#: Attention by its parts, residuals, norms and a gated perceptron, three times.
BLOCKS = """
import torch
from torch import nn

torch.manual_seed(0)


class Attention(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.qkv, self.out = nn.Linear(n, 3 * n), nn.Linear(n, n)

    def forward(self, x):
        q, k, v = (y.view(2, 5, 2, 8).transpose(1, 2) for y in self.qkv(x).chunk(3, -1))
        w = torch.softmax(q @ k.transpose(-1, -2) / 8**0.5, -1)
        return self.out((w @ v).transpose(1, 2).reshape(2, 5, 16))


class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.norm, self.attention = nn.LayerNorm(n), Attention(n)
        self.up, self.down = nn.Linear(n, 32), nn.Linear(32, n)

    def forward(self, x):
        x = x + self.attention(self.norm(x))
        return x.add_(self.down(torch.relu_(self.up(x))))


nn.Sequential(*(Block(16) for _ in range(3))).eval()(torch.randn(2, 5, 16))
"""

#: Small differences beside a large number, which a norm then makes large.
CANCELLING = """
import torch
from torch import nn

torch.manual_seed(0)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.norm = nn.Linear(32, 32), nn.Linear(32, 32), nn.LayerNorm(32)

    def forward(self, x):
        y = torch.tanh(self.first(x)) + 3000.0
        return torch.softmax(self.second(self.norm(y - y.mean(-1, keepdim=True))), -1)


Model().eval()(torch.randn(4, 32))
"""

#: ONNX Runtime but for one operator.
PLANTED = """
import numpy as np
from opproof.backends.load import load_backend

honest = load_backend("onnxruntime")


def forward(op, inputs, params):
    results = honest.forward(op, inputs, params)
    if op == {op!r}:
        results = [{wrong} for y in results]
    return results
"""


@pytest.fixture
def blocks(tmp_path):
    path = tmp_path / "blocks.py"
    path.write_text(BLOCKS, encoding="utf-8")
    return path


def planted(tmp_path, op, wrong):
    path = tmp_path / "mine.py"
    path.write_text(PLANTED.format(op=op, wrong=wrong), encoding="utf-8")
    return path


def test_an_honest_backend_of_a_model_that_amplifies_nothing(blocks, capsys):
    status, out, err = opproof(capsys, "drift", blocks, "-b", "numpy")
    assert (status, err) == (0, "")
    assert out.startswith("blocks.py on numpy: 36 calls of operators\n")
    assert "No operator is wrong. The output is off by " in out
    assert not re.search(r"^>", out, re.MULTILINE)


@pytest.mark.parametrize("backend", ["numpy", "onnxruntime", "openvino", "jax"])
def test_an_honest_backend_whose_rounding_is_amplified(tmp_path, capsys, backend):
    pytest.importorskip(backend)
    (tmp_path / "cancelling.py").write_text(CANCELLING, encoding="utf-8")
    status, out, _ = opproof(capsys, "drift", tmp_path / "cancelling.py", "-b", backend)
    assert status == 0
    times = re.search(r"^No operator is wrong; rounding of add in Model is amplified (\S+) times\. ", out, re.MULTILINE)
    assert times is not None, out
    assert 1e3 < float(times[1]) < 1e5  # 3000 beside numbers of about 0.6


def test_a_factor_on_one_operator_is_found_where_it_first_stands(blocks, tmp_path, capsys):
    mine = planted(tmp_path, "relu", "np.asarray(y * np.float32(1.01))")
    status, out, _ = opproof(capsys, "drift", blocks, "-b", mine)
    assert status == 1
    assert "relu in 0 is wrong by its own inputs (WRONG_VALUE, " in out
    assert (
        "): every element of y is 1.01 × the expected value. 2 more calls are wrong. The output is off by 0.00" in out
    )
    marked = re.findall(r"^> +\d+ +(\w+) +(\S+)", out, re.MULTILINE)
    assert marked == [("relu", "0"), ("relu", "1"), ("relu", "2")]


def test_a_softmax_in_half_precision_is_found(blocks, tmp_path, capsys):
    mine = planted(tmp_path, "softmax", "np.asarray(y.astype(np.float16).astype(np.float32))")
    status, out, _ = opproof(capsys, "drift", blocks, "-b", mine, "--json")
    assert status == 1
    report = json.loads(out)
    wrong = [c for c in report["calls"] if c["verdict"] == "WRONG_VALUE"]
    assert [(c["op"], c["place"]) for c in wrong] == [("softmax", f"{i}.attention") for i in range(3)]
    assert all("f16" in c["said"] for c in wrong)
    assert report["verdict"].startswith("softmax in 0.attention is wrong by its own inputs (WRONG_VALUE, ")
    assert report["error"] > 10 * report["noise"]
    assert all(c["arriving"] > 0 for c in report["calls"][report["calls"].index(wrong[0]) + 1 :])


def test_what_a_backend_declines_is_answered_by_pytorch(blocks, tmp_path, capsys):
    mine = tmp_path / "mine.py"
    mine.write_text(
        "import numpy as np\nfrom opproof.backends import Unsupported\n\n\ndef forward(op, inputs, params):\n"
        "    if op != 'relu':\n        raise Unsupported('no')\n    return [np.maximum(inputs[0], 0)]\n",
        encoding="utf-8",
    )
    status, out, _ = opproof(capsys, "drift", blocks, "-b", mine)
    assert status == 0
    assert f"33 calls are PyTorch's, which {mine} declines: layer_norm, linear, matmul, div, softmax, add." in out


def test_a_backend_that_dies_of_a_call_is_started_again(blocks, tmp_path, capsys):
    mine = planted(tmp_path, "softmax", "__import__('os')._exit(3)")
    status, out, _ = opproof(capsys, "drift", blocks, "-b", mine)
    assert status == 1
    assert "softmax in 0.attention is wrong by its own inputs (CRASH)" in out
    assert "2 more calls are wrong." in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none.py", "-b", "numpy"), "no script none.py: expected a Python file that runs a PyTorch program."),
        (("none.onnx", "-b", "numpy"), "no model none.onnx: expected an ONNX file."),
        (("empty.py", "-b", "numpy"), "empty.py calls no operator of opproof: there is nothing to follow."),
        (("raises.py", "-b", "numpy"), "raises.py raised ValueError: no model."),
        (
            ("drops.py", "-b", "numpy"),
            "drops.py: dropout draws numbers, which are others at each call: use the model's ",
        ),
        (("relu.py", "-b", "none.py"), "none.py"),
        (("relu.py", "-b", "nothing.py"), "nothing.py has none of the operators of relu.py: relu."),
        (("relu.py", "-b", "numpy", "--dim", "n=1"), "--dim is for an ONNX model: a program says its shapes itself."),
    ],
)
def test_bad_input(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    programs = {
        "empty": "x = 1",
        "raises": "raise ValueError('no model')",
        "drops": "import torch\ntorch.nn.functional.dropout(torch.ones(9))",
        "relu": "import torch\ntorch.relu(torch.randn(9))",
        "nothing": "from opproof.backends import Unsupported\n\n\ndef forward(*given):\n    raise Unsupported('no')",
    }
    for name, text in programs.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    status, _, err = opproof(capsys, "drift", *arguments)
    assert status == 2
    assert message in err
    assert err.count("\n") == 1


def call(number, effect, own=1e-7, verdict=Verdict.PASS, **more):
    return FollowedCall(
        number, "add", "block", "add[a=2x2;b=2x2;f32]", verdict, 1.0, 16.0, "", 0.0, own, effect, **more
    )


def test_an_output_that_is_off_though_no_operator_is_wrong():
    report = DriftReport("m.py", "mine", [call(1, 1e-7), call(2, 3e-7)], 9e-6, 1e-6, 2**-24, {})
    assert report.beyond
    assert report.verdict == (
        "No operator is wrong by its own inputs. The output is off by 9e-6, and honest rounding of every operator "
        "makes 1e-6: errors add up to one side."
    )
    assert not DriftReport("m.py", "mine", [call(1, 1e-7)], 3e-6, 1e-6, 2**-24, {}).beyond
    assert DriftReport("m.py", "mine", [call(1, 1e-7)], float("nan"), 1e-6, 2**-24, {}).beyond


def test_many_calls_are_told_by_what_they_do():
    calls = [call(n, 1e-9 * n) for n in range(1, 60)]
    calls[3] = call(4, 0.0, verdict=Verdict.WRONG_VALUE)
    text = str(DriftReport("m.py", "mine", calls, 1e-6, 1e-6, 2**-24, {"lstm": 2}))
    assert re.findall(r"^[> ] +(\d+) +add", text, re.MULTILINE) == ["4", *map(str, range(37, 60))]
    assert "  and 35 more calls, right, which move the output less" in text
    assert "No operators of opproof, which mine is not asked for: lstm (2)." in text


def test_a_tape_made_again_gives_what_the_program_gave(blocks):
    tape = trace_program(blocks, [])
    replay, wide = Replay(tape), Replay(tape, wide=True)
    for one in tape.calls:
        replay.advance(one)
        wide.advance(one)
    (narrow,), (exact,) = replay.results, wide.results
    assert exact.dtype is torch.float64
    assert narrow.shape == exact.shape == (2, 5, 16)
    np.testing.assert_allclose(narrow.numpy(), exact.detach().numpy(), rtol=1e-5, atol=1e-5)


def test_effects_are_those_of_differences(blocks):
    tape = trace_program(blocks, [])
    number = next(i for i, one in enumerate(tape.calls) if one.name == "softmax")
    error = 1e-6 * torch.randn(2, 2, 5, 5, dtype=torch.float64)

    def results(change):
        replay = Replay(tape, wide=True)
        for i, one in enumerate(tape.calls):
            replay.advance(one, lambda _, y, i=i: y + change if i == number else y)
        return replay.results[0].detach()

    moved = float((results(error) - results(0 * error)).norm())
    assert measure_effects(tape, {(number, 0): error})[number, 0] == pytest.approx(moved, rel=0.5)
    assert measure_noise(tape, {(number, 0): error.abs()}) == pytest.approx(moved, rel=1.0)
